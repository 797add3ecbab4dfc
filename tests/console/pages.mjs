// The stage of the tests that go through pages: one server with records of every kind, one browser.
import assert from "node:assert/strict";
import { Stage, eventually, openBrowser, openPage, signIn } from "./stage.mjs";

export let stage;
let browser;

export const record = (operation, key, tenant = "acme") =>
    `#/record?tenant=${tenant}&operation=${operation}&key=${encodeURIComponent(key)}`;

async function seed() {
    await stage.order("cart-17");
    await stage.order("cart-17");
    await stage.order("cart-17", { item: "piano" }); // a mismatch
    for (let i = 0; i < 60; ++i) await stage.order(`cart-${100 + i}`);
    await stage.done("SHIP", "parcel/7", {
        text: '{"parcel":"PX-1","weight_g":12345678901234567890}',
        type: "application/json",
        ref: "parcel_9",
    }, { content: '{"to":"Oslo"}', attributes: { customer: "c_812", channel: "app" } });
    await stage.center("begin", { operation: "SHIP", key: "parcel/7", content: '{"to":"Rome"}' });
    await stage.center("begin", { operation: "SHIP", key: "running", attributes: { customer: "c_1" } });
    const failing = await stage.center("begin", { operation: "SHIP", key: "no-such-street" });
    await stage.center("fail", {
        operation: "SHIP", key: "no-such-street", attempt: failing.json.attempt, kind: "final", error: "address unknown",
    });
    for (const key of ["settle-yes", "settle-no", "settle-failed", "remove-me", "only-look"]) {
        const begun = await stage.center("begin", { operation: "PAY", key, content: '{"amount":3}' });
        await stage.center("checkpoint", {
            operation: "PAY", key, attempt: begun.json.attempt, name: "reserve", text: '{"hold":"h_7"}',
        });
    }
    await stage.done("SHIP", "bolts-own", { text: "x" }, {}, stage.other);
    // Their leases end.
    await eventually(async () => (await stage.api("records?lapsed_for=0s")).json.records.length >= 5);
}

export async function open() {
    stage = await Stage.open();
    browser = await openBrowser();
    await seed();
}

export async function close() {
    await browser?.close();
    await stage?.close();
}

// A signed-in page for one test; nothing may have gone wrong in it unseen.
export async function with_page(run, { token, ...options } = {}) {
    const page = await openPage(stage, options);
    try {
        await signIn(page, stage, token ?? stage.admin);
        await run(page);
        assert.deepEqual(page.faults, []);
    } finally {
        await page.context().close();
    }
}

export const go = (page, hash) => page.evaluate((to) => void (location.hash = to), hash);
export const heading = (page, name) => page.getByRole("heading", { name, level: 1 }).waitFor();
export const main = (page) => page.locator("main");
