// The admin API as the pages use it. Types say what src/edge/console writes.

export interface Bytes {
    bytes: number;
    text?: string;
    base64?: string;
}

export interface Session {
    tenant: string;
    role: "admin" | "operate" | "read";
    version: string;
    csrf?: string;
    ends_ms?: number;
}

export type Series = Record<string, number[]>;

export interface Overview {
    version: string;
    started_at: string;
    now: string;
    every_ms: number;
    samples_max: number;
    series: Series;
    latencies: Latency[];
    store: { kind: string; up: boolean; round_trip_us: number; durable: boolean };
    outbox: boolean;
    totals?: Record<string, number>;
    lapsed?: { records: number; more: boolean };
}

export interface Latency {
    command: string;
    calls: number;
    failures: number;
    p50_us: number;
    p95_us: number;
    p99_us: number;
}

export interface Policy {
    on_lease_expiry: string;
    attempts_max: number;
    grace_ms: number;
    processing_max_ms: number;
}

export interface RecordLine {
    tenant: string;
    operation: string;
    key: string;
    at: string; // the query that leads to it; its bytes are the record's own
    state: string;
    standing: string;
    attempts: number;
    fence: string;
    created_at: string;
    updated_at: string;
    expires_at?: string;
    lease_until?: string;
    lease_ms?: number;
    ref?: string;
    policy: Policy;
}

export interface RecordPage {
    records: RecordLine[];
    cursor: string;
    now: string;
}

export interface AuditEntry {
    at: string;
    act: string;
    actor: string;
    reason: string;
    fence: string;
    from?: string;
    to?: string;
}

export interface StoredResponse {
    status: number;
    headers: [string, string][];
    type: string;
    body: Bytes;
}

export interface StoredResult {
    kind: string;
    type: string;
    ref: string;
    bytes: number;
    unreadable?: boolean;
    response?: StoredResponse | null;
    body?: Bytes;
}

export interface RecordDetails extends RecordLine {
    now: string;
    begun_at: string;
    may_resolve: boolean;
    may_correct: boolean;
    holds: "responses" | "plain" | "unknown";
    checkpoints: { name: string; data: Bytes }[];
    audit: AuditEntry[];
    fingerprint?: string;
    attributes?: string;
    result?: StoredResult;
    error?: string;
    retry_after?: string;
}

export interface Mismatch {
    at: string;
    tenant: string;
    operation: string;
    key: string;
    record: string;
    held: string;
    asked: string;
    times: number;
}

export interface Backlog {
    waiting: number;
    dead: number;
    count_max: number;
    oldest_ms: number;
}

export interface OutboxRow {
    row: string;
    status: string;
    id: string;
    topic: string;
    key: string;
    shard: number;
    attempts: number;
    created_at: string;
    updated_at: string;
    error: string;
    payload?: Bytes;
    headers?: [string, string][];
}

// A "no" of the API, or none at all: then the status is 0.
export class Problem extends Error {
    constructor(
        readonly status: number,
        readonly slug: string,
        detail: string,
        readonly body: unknown = null,
    ) {
        super(detail);
    }
}

const base = "/admin/api/v1/";
let csrf = "";
let onEnded: () => void = () => undefined;

export function whenSessionEnds(then: () => void) {
    onEnded = then;
}

async function problemOf(answer: Response): Promise<Problem> {
    const body = (await answer.json().catch(() => ({}))) as { type?: string; detail?: string; title?: string };
    const slug = (body.type ?? "").split(":").pop() ?? "";
    return new Problem(answer.status, slug, body.detail ?? body.title ?? answer.statusText, body);
}

async function ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    const headers: Record<string, string> = { Accept: "application/json" };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (method !== "GET" && csrf) headers["X-Semel-Csrf"] = csrf;
    const init: RequestInit = { method, headers, credentials: "same-origin", cache: "no-store" };
    if (body !== undefined) init.body = JSON.stringify(body);
    let answer: Response;
    try {
        answer = await fetch(base + path, init);
    } catch {
        throw new Problem(0, "offline", "");
    }
    if (answer.ok) return (await answer.json()) as T;
    const problem = await problemOf(answer);
    if (answer.status === 401 && path !== "session") onEnded();
    throw problem;
}

function signedIn(session: Session): Session {
    csrf = session.csrf ?? "";
    return session;
}

const query = (of: Record<string, string | undefined>) => {
    const given = Object.entries(of).filter((one): one is [string, string] => !!one[1]);
    return given.length ? "?" + new URLSearchParams(given).toString() : "";
};

export const api = {
    session: async () => signedIn(await ask<Session>("GET", "session")),
    signIn: async (token: string) => signedIn(await ask<Session>("POST", "session", { token })),
    signOut: () => ask<unknown>("DELETE", "session"),
    overview: (after: number) => ask<Overview>("GET", `overview?after=${after}`),
    records: (of: Record<string, string | undefined>) => ask<RecordPage>("GET", "records" + query(of)),
    record: (at: string) => ask<RecordDetails>("GET", `record?${at}`),
    resolve: (at: string, verdict: unknown) => ask<unknown>("POST", `record/resolve?${at}`, verdict),
    remove: (at: string, reason: string) => ask<unknown>("POST", `record/remove?${at}`, { reason }),
    mismatches: () =>
        ask<{ mismatches: Mismatch[]; mismatches_max: number; started_at: string }>("GET", "mismatches"),
    configuration: () => ask<{ toml: string }>("GET", "configuration"),
    outbox: () => ask<Backlog>("GET", "outbox"),
    outboxRows: (of: { status: string; after: string }) =>
        ask<{ rows: OutboxRow[]; after: string }>("GET", "outbox/rows" + query(of)),
    outboxRow: (row: string) => ask<OutboxRow>("GET", "outbox/row" + query({ row })),
    requeue: (rows: string[]) => ask<{ count: number }>("POST", "outbox/requeue", { rows }),
};
