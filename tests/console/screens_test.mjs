// What all pages have in common, in a real browser: keys, colours, sizes of screens, a server that ends.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { close, go, heading, main, open, record, stage, with_page } from "./pages.mjs";
import { eventually, fits, narrow, openPage, shoot, signIn, wide } from "./stage.mjs";

// Each with its heading.
const pages = {
    overview: ["#/overview", "Overview"],
    records: ["#/records", "Records"],
    lapsed: ["#/lapsed", "Lapsed"],
    mismatches: ["#/mismatches", "Mismatches"],
    outbox: ["#/outbox", "Outbox"],
    configuration: ["#/configuration", "Configuration"],
    "record-in-doubt": [record("PAY", "only-look"), /only-look/],
    "record-settled": [record("PAY", "settle-yes"), /settle-yes/],
    "record-answer": [record("ORDER_CREATE", "cart-17"), /cart-17/],
    "record-running": [record("SHIP", "running"), /running/],
    "record-failed": [record("SHIP", "no-such-street"), /no-such-street/],
};

before(async () => {
    await open();
    const at = "tenant=acme&operation=PAY&key=settle-yes";
    const { fence } = (await stage.api(`record?${at}`)).json;
    const settled = await stage.api(`record/resolve?${at}`, {
        body: { fence, verdict: "committed", reason: "ticket 7", result: { text: '{"paid":true}', type: "application/json", kind: "value" } },
    });
    assert.equal(settled.status, 200, settled.text);
});
after(close);

describe("the keyboard", () => {
    it("reaches everything", () =>
        with_page(async (page) => {
            await page.reload();
            await heading(page, "Overview");
            await page.keyboard.press("Tab");
            assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
            await page.keyboard.press("Enter");
            assert.equal(await page.evaluate(() => document.activeElement.id), "content");
            await page.keyboard.press("?");
            await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
            await page.keyboard.press("Escape");
            await page.getByRole("dialog").waitFor({ state: "hidden" });
            for (const [key, title] of [["r", "Records"], ["l", "Lapsed"], ["m", "Mismatches"], ["x", "Outbox"], ["c", "Configuration"], ["o", "Overview"]]) {
                await page.keyboard.press("g");
                await page.keyboard.press(key);
                await heading(page, title);
            }
            await page.keyboard.press("g");
            await page.keyboard.press("r");
            await heading(page, "Records"); // the page before it has rows, too
            await main(page).locator("tbody tr").first().waitFor();
            await page.keyboard.press("/");
            assert.equal(await page.evaluate(() => document.activeElement.name), "key");
            await page.keyboard.type("cart-17");
            await page.keyboard.press("Enter");
            await main(page).getByRole("status").getByText("1 record").waitFor();
            await page.evaluate(() => document.activeElement.blur());
            await page.keyboard.press("j");
            assert.equal(await page.evaluate(() => document.activeElement.textContent), "cart-17");
            const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
            assert.equal(outline, "solid");
            await page.keyboard.press("Enter");
            await heading(page, /cart-17/);
        }));

    it("has a name for every control", () =>
        with_page(async (page) => {
            for (const [hash, title] of Object.values(pages)) {
                await go(page, hash);
                await heading(page, title);
                const nameless = await page.evaluate(() =>
                    [...document.querySelectorAll("button, a, input, select, textarea, [role=img]")]
                        .filter((one) => one.checkVisibility())
                        .filter((one) => !one.getAttribute("aria-label") && !one.textContent.trim() && !one.labels?.length)
                        .map((one) => one.outerHTML));
                assert.deepEqual(nameless, [], hash);
            }
            assert.equal(await page.evaluate(() => document.documentElement.lang), "en");
        }));
});

describe("appearance", () => {
    it("follows the system and can be chosen", async () => {
        const background = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
        await with_page(async (page) => {
            const light = await background(page);
            await page.keyboard.press("t"); // light
            assert.equal(await background(page), light);
            await page.keyboard.press("t"); // dark
            await eventually(async () => (await background(page)) !== light);
            await page.reload();
            await heading(page, "Overview");
            assert.notEqual(await background(page), light);
        });
        await with_page(async (page) => assert.equal(await background(page), "rgb(15, 20, 19)"), { colorScheme: "dark" });
    });
});

describe("every page", () => {
    for (const [name, viewport] of Object.entries({ wide, narrow })) {
        for (const colorScheme of ["light", "dark"]) {
            it(`fits a ${name} ${colorScheme} screen`, () =>
                with_page(async (page) => {
                    if (name === "narrow") {
                        await page.getByRole("button", { name: "Menu" }).click();
                        await page.getByRole("navigation").getByRole("link", { name: "Records" }).waitFor();
                        await shoot(page, `menu-${name}-${colorScheme}`);
                    }
                    for (const [title, [hash, heading_of]] of Object.entries(pages)) {
                        await go(page, hash);
                        await heading(page, heading_of);
                        await page.locator(".loading").waitFor({ state: "detached" });
                        assert.ok(await fits(page), `${title} is wider than ${viewport.width}`);
                        await shoot(page, `${title}-${name}-${colorScheme}`);
                    }
                }, { viewport, colorScheme }));
        }
    }
});

describe("a server that has gone", () => {
    it("is said to have gone", async () => {
        const page = await openPage(stage);
        await signIn(page, stage);
        await stage.stop("SIGKILL");
        await page.getByRole("alert").getByText("The server does not answer.").waitFor();
        await shoot(page, "server-gone");
        await page.context().close();
    });
});
