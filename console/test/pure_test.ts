import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { RecordDetails } from "../src/api";
import { clock, duration, groups, isDuration, latency, percent, rate, relative, size } from "../src/format";
import { isJson, pieces, pretty } from "../src/json_text";
import { fields, link, parse } from "../src/route";
import { band, lastNumber, line, merge, nearest, rates, recent, scale, stacked } from "../src/series";
import { actionOf } from "../src/shortcuts";
import { english } from "../src/texts";
import { timelineOf } from "../src/timeline";
import { sectionsOf } from "../src/toml";
import { isBrokenJson, verdictOf, type Draft } from "../src/verdict";

describe("numbers and times", () => {
    it("have two units at most", () => {
        assert.equal(duration(40), "40 ms");
        assert.equal(duration(12_400), "12 s");
        assert.equal(duration(200_000), "3 m 20 s");
        assert.equal(duration(86_400_000 * 2 + 4 * 3_600_000 + 5_000), "2 d 4 h");
        assert.equal(duration(3_600_000 + 5_000), "1 h");
        assert.equal(duration(-5), "0 ms");
        assert.equal(duration(NaN), "–");
    });
    it("are told from now", () => {
        assert.equal(relative("2026-01-01T00:00:00Z", "2026-01-01T00:00:10Z"), "10 s ago");
        assert.equal(relative("2026-01-01T00:00:10Z", "2026-01-01T00:00:00Z"), "in 10 s");
        assert.equal(relative("2026-01-01T00:00:00Z", Date.parse("2026-01-01T00:00:00.5Z")), "just now");
        assert.match(clock("2026-01-01T00:00:00.123456Z"), /^20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\.123$/);
        assert.equal(clock("nonsense"), "–");
    });
    it("are rounded to what matters", () => {
        assert.deepEqual([0, 0.04, 3.14, 27.4, 1480].map(rate), ["0", "0.04", "3.1", "27", "1,480"]);
        assert.equal(rate(NaN), "–");
        assert.deepEqual([0, 0.239, 1].map(percent), ["0 %", "23.9 %", "100 %"]);
        assert.deepEqual([0, 130, 4200, 16_800, 1_600_000].map(latency), ["–", "0.13 ms", "4.2 ms", "17 ms", "1.6 s"]);
        assert.deepEqual([5, 2048, 3 << 20].map(size), ["5 B", "2.0 KiB", "3.0 MiB"]);
    });
    it("are read as the server reads them", () => {
        assert.deepEqual(["5m", "1h30m", "7", "", "soon"].map(isDuration), [true, true, false, false, false]);
        assert.deepEqual(groups("0123456789abcdef"), ["01234567", "89abcdef"]);
    });
});

describe("JSON", () => {
    it("is laid out without touching a digit", () => {
        const text = '{"a":12345678901234567890,"b":[1.0,{}],"a":[],"c":"x,{\\"y"}';
        const laid = pretty(text);
        assert.equal(laid.split("\n")[1], '  "a": 12345678901234567890,');
        assert.equal(laid.replace(/\n */g, "").replaceAll('": ', '":'), text);
    });
    it("is left alone where it is none", () => {
        for (const text of ["", "plain", "<b>", "{broken", "12"]) assert.equal(pretty(text), text);
        assert.equal(isJson(" [1] "), true);
    });
    it("falls into pieces that make it up again", () => {
        const text = pretty('{"name":"text","n":-1.5e3,"w":[true,null],"q":"a\\"b: c"}');
        const all = pieces(text);
        assert.equal(all.map((one) => one.text).join(""), text);
        const kinds = (kind: string) => all.filter((one) => one.kind === kind).map((one) => one.text);
        assert.deepEqual(kinds("name"), ['"name"', '"n"', '"w"', '"q"']);
        assert.deepEqual(kinds("number"), ["-1.5e3"]);
        assert.deepEqual(kinds("word"), ["true", "null"]);
    });
});

describe("series", () => {
    const one = { number: [1, 2], span_ms: [2000, 2000], executed: [4, 0] };
    it("go on, without what is there already", () => {
        const more = merge(one, { number: [2, 3], span_ms: [2000, 1000], executed: [0, 5] }, 10);
        assert.deepEqual(more["number"], [1, 2, 3]);
        assert.deepEqual(more["executed"], [4, 0, 5]);
        assert.equal(lastNumber(more), 3);
        assert.deepEqual(merge(more, { number: [4], span_ms: [1], executed: [1] }, 2)["number"], [3, 4]);
        assert.deepEqual(merge(one, { number: [], span_ms: [], executed: [] }, 10)["executed"], [4, 0]);
    });
    it("begin anew with the server", () => {
        assert.deepEqual(merge({ number: [50], executed: [1] }, { number: [1], executed: [7] }, 9)["executed"], [7]);
    });
    it("become rates and sums", () => {
        assert.deepEqual(rates(one, ["executed"]), [2, 0]);
        assert.deepEqual(rates({ span_ms: [0], executed: [3] }, ["executed"]), [0]);
        assert.equal(recent(one, ["executed"], 1), 0);
        assert.equal(recent(one, ["executed"], 2), 4);
    });
});

describe("charts", () => {
    const box = { width: 100, height: 10, top: 10 };
    it("have round scales", () => {
        assert.deepEqual(scale(0).ticks, [0, 1, 2]);
        assert.deepEqual(scale(17), { top: 20, ticks: [0, 10, 20] });
        assert.deepEqual(scale(0.03), { top: 0.04, ticks: [0, 0.02, 0.04] });
        assert.deepEqual(scale(1, true).ticks, [0, 1, 2]);
    });
    it("draw lines with gaps, and bands", () => {
        assert.equal(line([0, 10], box), "M0 10h0L100 0");
        assert.equal(line([5, NaN, 5], box), "M0 5h0M100 5h0");
        assert.equal(band([0, 0], [10, 10], box), "M0 0L100 0L100 10L0 10Z");
        assert.equal(band([], [], box), "");
        assert.deepEqual(stacked([[1, 2], [3, 4]]), [[1, 2], [4, 6]]);
    });
    it("find the sample under the pointer", () => {
        assert.deepEqual([-5, 0, 49, 51, 500].map((x) => nearest(x, 100, 3)), [0, 0, 1, 1, 2]);
        assert.equal(nearest(5, 100, 0), -1);
    });
});

describe("addresses", () => {
    it("name a page and keep a record's bytes as they are", () => {
        assert.deepEqual(parse("#/record?tenant=a&key=%FF%20x"), { page: "record", query: "tenant=a&key=%FF%20x" });
        assert.deepEqual(parse(""), { page: "overview", query: "" });
        assert.deepEqual(parse("#/nonsense?x"), { page: "overview", query: "" });
        assert.equal(link("record", "key=%FF"), "#/record?key=%FF");
        assert.equal(link("records", { key: "a b&c", state: "" }), "#/records?key=a+b%26c");
        assert.deepEqual(fields("key=a+b%26c"), { key: "a b&c" });
    });
    it("and keys lead there", () => {
        assert.deepEqual(actionOf({ key: "r", after: "g" }), { go: "records" });
        assert.equal(actionOf({ key: "r", after: "" }), "refresh");
        assert.equal(actionOf({ key: "q", after: "g" }), null);
        assert.equal(actionOf({ key: "?", after: "" }), "help");
    });
});

describe("a verdict", () => {
    const draft: Draft = {
        verdict: "committed", status: "201", type: "a/b", body: "{}", kind: "value", ref: " r ", error: " no ",
        reason: " because ", holds: "responses", fence: "9",
    };
    const made = { fence: "9", reason: "because" };
    it("holds what the operation's clients get", () => {
        const answer = { text: "{}", type: "a/b", ref: "r" };
        assert.deepEqual(verdictOf(draft), { ...made, verdict: "committed", response: { ...answer, status: 201 } });
        assert.deepEqual(verdictOf({ ...draft, holds: "plain", ref: "" }), {
            ...made, verdict: "committed", result: { text: "{}", type: "a/b", kind: "value" },
        });
        assert.deepEqual(verdictOf({ ...draft, verdict: "not_executed" }), { ...made, verdict: "not_executed" });
        assert.deepEqual(verdictOf({ ...draft, verdict: "failed" }), { ...made, verdict: "failed", error: "no" });
    });
});

describe("a body that says it is JSON", () => {
    it("is looked at before it is sent", () => {
        assert.equal(isBrokenJson("application/json", '{"id": 9'), true);
        assert.equal(isBrokenJson("Application/Problem+JSON; charset=utf-8", "no"), true);
        assert.equal(isBrokenJson("application/json", '{"id": 9}'), false);
        assert.equal(isBrokenJson("application/json", "12"), false);
        assert.equal(isBrokenJson("application/json", ""), false);
        assert.equal(isBrokenJson("text/plain", '{"id": 9'), false);
    });
});

describe("a record's life", () => {
    const stamp = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, "0")}.000000Z`;
    const base: RecordDetails = {
        tenant: "a", operation: "b", key: "c", at: "", state: "processing", standing: "running", attempts: 1,
        fence: "1", created_at: stamp(0), begun_at: stamp(0), updated_at: stamp(0), now: stamp(5),
        policy: { on_lease_expiry: "hold", attempts_max: 100, grace_ms: 0, processing_max_ms: 1 },
        may_resolve: false, may_correct: false, holds: "plain", checkpoints: [], audit: [], lease_until: stamp(9), lease_ms: 4000,
    };
    const told = (of: Partial<RecordDetails>) => timelineOf({ ...base, ...of }).map((one) => `${one.tone}: ${one.what}`);
    it("is told in its order", () => {
        assert.deepEqual(told({}), ["past: First attempt began", "future: Its lease ends"]);
        assert.deepEqual(told({ lease_until: stamp(2), lease_ms: -3000, attempts: 4, begun_at: stamp(1) }), [
            "past: First attempt began", "past: 2 attempts in between", "past: Attempt 4 began", "open: Its lease lapsed",
        ]);
        assert.deepEqual(told({ state: "succeeded", updated_at: stamp(3), expires_at: stamp(50) }), [
            "past: First attempt began", "good: The result was stored", "future: Repeats are answered until here",
        ]);
    });
    it("says what becomes of a failure in the end", () => {
        const policy = { on_lease_expiry: "hold", attempts_max: 2, grace_ms: 0, processing_max_ms: 1 };
        const failed = (attempts: number) =>
            told({ state: "failed_retryable", attempts, policy, begun_at: stamp(1), updated_at: stamp(3), expires_at: stamp(50) });
        assert.deepEqual(failed(1).slice(-2), [
            "bad: The attempt failed; it may run again",
            "future: It is forgotten here: a request after that is a first attempt",
        ]);
        assert.deepEqual(failed(2).slice(-2), ["bad: The work failed for good", "future: Repeats are answered until here"]);
    });
    it("tells a changed verdict from the first", () => {
        const audit = [
            { at: stamp(2), act: "resolve: failed", actor: "me", reason: "r", fence: "1" },
            { at: stamp(3), act: "correct: committed", actor: "me", reason: "r", fence: "2" },
        ];
        assert.deepEqual(told({ state: "succeeded", updated_at: stamp(3), audit }), [
            "past: First attempt began", "act: Settled: it failed", "act: Verdict changed: it took effect",
        ]);
    });
    it("has an operator's verdict once", () => {
        const audit = [{ at: stamp(3), act: "resolve: not executed", actor: "me", reason: "r", fence: "1" }];
        assert.deepEqual(told({ state: "failed_retryable", updated_at: stamp(3), audit }), [
            "past: First attempt began", "act: Settled: it was not executed",
        ]);
    });
});

describe("the configuration", () => {
    it("is taken apart by section", () => {
        const got = sectionsOf('[server]\nlisten = "a = b"\n\n[[route]]\noperation = "PAY"\npath = "/p"\n');
        assert.deepEqual(got, [
            { title: "server", keys: [["listen", '"a = b"']] },
            { title: "route PAY", keys: [["operation", '"PAY"'], ["path", '"/p"']] },
        ]);
        assert.deepEqual(sectionsOf(""), []);
    });
});

describe("texts", () => {
    it("are there for every state and key", () => {
        for (const state of ["running", "lapsed", "in_doubt", "succeeded", "failed_retryable", "failed_final"]) {
            assert.ok(english.states[state] && english.stateHelp[state], state);
        }
        assert.equal(english.records.found(1, false), "1 record");
        assert.equal(english.records.found(1200, true), "1,200 records, and there may be more");
    });
});
