// What an operator has filled in, as the API wants it. Pure.

export interface Draft {
    verdict: "" | "committed" | "not_executed" | "failed";
    status: string;
    type: string;
    body: string;
    kind: string;
    ref: string;
    error: string;
    reason: string;
    holds: "responses" | "plain" | "unknown";
    fence: string;
}

const given = (ref: string) => (ref.trim() ? { ref: ref.trim() } : {});

// A body that is not the JSON its content type promises. The server refuses it, too.
export function isBrokenJson(type: string, body: string): boolean {
    const essence = (type.split(";")[0] ?? "").trim().toLowerCase();
    if (!/^application\/json$|\+json$/.test(essence) || body === "") return false;
    try {
        JSON.parse(body);
        return false;
    } catch {
        return true;
    }
}

export function verdictOf(draft: Draft): Record<string, unknown> {
    const made = { fence: draft.fence, verdict: draft.verdict, reason: draft.reason.trim() };
    if (draft.verdict === "failed") return { ...made, error: draft.error.trim() };
    if (draft.verdict === "not_executed") return made;
    const answer = { text: draft.body, type: draft.type.trim(), ...given(draft.ref) };
    return draft.holds === "responses"
        ? { ...made, response: { ...answer, status: Number(draft.status) } }
        : { ...made, result: { ...answer, kind: draft.kind } };
}
