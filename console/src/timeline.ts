// A record's life in the order it happened, from what the record itself still knows. Pure.
import type { RecordDetails } from "./api";
import { t } from "./texts";

export interface Event {
    what: string;
    tone: "past" | "good" | "bad" | "open" | "future" | "act";
    at?: string;
    note?: string;
    detail?: string;
}

const words = t.record;

function verdictOf(act: string): string {
    const key = act.replace(/^(resolve|correct): /, "").replaceAll(" ", "_");
    const known = act.startsWith("correct: ") ? words.corrected : words.settled;
    return known[key] ?? act;
}

// The next caller is not answered from the record, but runs the work.
export function runsAgain(of: RecordDetails): boolean {
    return of.state === "failed_retryable" && of.attempts < of.policy.attempts_max;
}

function ending(of: RecordDetails, acts: Event[]): Event[] {
    const settled = acts.some((one) => one.at !== undefined && Math.abs(Date.parse(one.at) - Date.parse(of.updated_at)) < 5);
    const events = words.events;
    if (of.state === "succeeded") return settled ? [] : [{ what: events.succeeded, tone: "good", at: of.updated_at }];
    const failed = runsAgain(of) ? events.failed_retryable : events.failed_final;
    return settled ? [] : [{ what: failed, tone: "bad", at: of.updated_at }];
}

export function timelineOf(of: RecordDetails): Event[] {
    const events = words.events;
    const acts: Event[] = of.audit.map((one) => ({
        what: verdictOf(one.act),
        tone: "act",
        at: one.at,
        note: words.by(one.actor),
        detail: one.reason,
    }));
    const past: Event[] = [{ what: events.created, tone: "past", at: of.created_at }];
    if (of.attempts > 2) past.push({ what: events.between(of.attempts - 2), tone: "past" });
    if (of.attempts > 1) past.push({ what: events.began(of.attempts), tone: "past", at: of.begun_at });
    past.push(...of.checkpoints.map((one): Event => ({ what: events.checkpoint(one.name), tone: "past" })));

    const after: Event[] = [...acts];
    const future: Event[] = [];
    if (of.state === "processing") {
        const over = (of.lease_ms ?? 0) <= 0;
        const lease: Event = { what: over ? events.leaseOver : events.leaseLive, tone: over ? "open" : "future" };
        if (of.lease_until) lease.at = of.lease_until;
        (over ? after : future).push(lease);
    } else {
        after.push(...ending(of, acts));
        if (of.retry_after && Date.parse(of.retry_after) > Date.parse(of.now)) {
            future.push({ what: events.retryAfter, tone: "future", at: of.retry_after });
        }
        const what = runsAgain(of) ? events.forgotten : events.expires;
        if (of.expires_at) future.push({ what, tone: "future", at: of.expires_at });
    }
    const byTime = (one: Event, other: Event) => Date.parse(one.at ?? "") - Date.parse(other.at ?? "");
    return [...past, ...after.sort(byTime), ...future.sort(byTime)];
}
