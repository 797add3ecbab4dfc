// The pages of the outbox, before a table with dead letters.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, before, describe, it } from "node:test";
import { fits, narrow, openBrowser, openPage, shoot, signIn } from "./stage.mjs";

let stage, browser;

before(async () => {
    const process_ = spawn(process.env.SEMEL_OUTBOX_STAGE, { stdio: ["pipe", "pipe", "inherit"] });
    const [line] = await once(process_.stdout, "data");
    stage = { process: process_, urls: { console: line.toString().trim() }, admin: "admin", operator: "operator", reader: "reader" };
    browser = await openBrowser();
});
after(async () => {
    await browser?.close();
    stage?.process.stdin.end();
    stage?.process.stdout.destroy();
});

async function outbox(token, options) {
    const page = await openPage(stage, options);
    await signIn(page, stage, token);
    await page.evaluate(() => void (location.hash = "#/outbox"));
    await page.getByRole("row", { name: /event-1/ }).waitFor();
    return page;
}

describe("the outbox", () => {
    it("shows who may only look no way to act", async () => {
        const page = await outbox(stage.operator, { viewport: narrow });
        await page.getByRole("button", { name: "Payload" }).first().waitFor();
        assert.equal(await page.getByRole("checkbox").count(), 0);
        assert.equal(await page.getByRole("button", { name: /^Send .*again…$/ }).count(), 0);
        assert.ok(await fits(page));
        await shoot(page, "outbox-dead-narrow");
        assert.deepEqual(page.faults, []);
        await page.context().close();
    });

    it("shows dead letters with their payload, and sends them again", async () => {
        const page = await outbox(stage.admin);
        await shoot(page, "outbox-dead-wide");
        await page.getByText("given up: refused for good, or tried too often").waitFor(); // one attempt may be enough
        await page.getByRole("row", { name: /event-1/ }).getByRole("button", { name: "Payload" }).click();
        const whole = page.getByRole("dialog", { name: "event-1" });
        await whole.getByText("<img src=x onerror=a>").waitFor();
        await whole.getByText("00-1").waitFor();
        assert.equal(await whole.locator("img").count(), 0);
        await shoot(page, "outbox-payload");
        await page.keyboard.press("Escape");

        const again = page.getByRole("button", { name: /^Send .*again…$/ });
        assert.ok(await again.isDisabled());
        await page.getByRole("checkbox", { name: "Select event-1" }).check();
        await page.getByRole("checkbox", { name: "Select event-3" }).check();
        await again.click();
        await page.getByRole("dialog", { name: "Send again?" }).getByRole("button", { name: "Send again" }).click();
        await page.getByText("2 events will be sent again.").waitFor();
        await page.getByRole("row", { name: /event-1/ }).waitFor({ state: "detached" });
        await page.getByRole("row", { name: /event-2/ }).waitFor();
        await page.getByRole("combobox", { name: /^Show/ }).selectOption("pending");
        await page.getByRole("row", { name: /event-3/ }).waitFor();
        assert.equal(await page.getByRole("checkbox").count(), 0);
        await page.getByRole("combobox", { name: /^Show/ }).selectOption("parked");
        await page.getByText("Nothing is parked.").waitFor();
        assert.deepEqual(page.faults, []);
        await page.context().close();
    });
});
