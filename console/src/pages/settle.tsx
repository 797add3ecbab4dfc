import { useState } from "preact/hooks";
import { api, Problem, type RecordDetails } from "../api";
import { Card, Dialog, Facts, Field, Text, Trouble, When } from "../parts";
import { notice } from "../notice";
import { pretty } from "../json_text";
import { link } from "../route";
import { t } from "../texts";
import { isBrokenJson, verdictOf, type Draft } from "../verdict";

const words = t.settle;
const verdicts = ["committed", "not_executed", "failed"] as const;

function firstDraft(of: RecordDetails): Draft {
    return {
        verdict: "",
        status: "",
        type: "application/json",
        body: "",
        kind: of.holds === "unknown" ? "" : "value",
        ref: "",
        error: "",
        reason: "",
        holds: of.holds,
        fence: of.fence,
    };
}

// What is answered: the request itself is not kept.
function About(props: { of: RecordDetails }) {
    const { of } = props;
    return (
        <section class="about" aria-label={words.about}>
            <h3>{words.about}</h3>
            <Facts
                of={[
                    [t.record.operation, of.operation],
                    [t.records.key, of.key],
                    [t.record.tenant, of.tenant],
                    [words.begun, <When at={of.begun_at} now={of.now} />],
                    [t.record.attempts, t.record.attemptsOf(of.attempts, of.policy.attempts_max)],
                    [t.record.fingerprint, of.fingerprint ? <code>{of.fingerprint}</code> : t.record.noFingerprint],
                    ...(of.attributes ? ([[t.record.attributes, <code>{of.attributes}</code>]] as [string, preact.JSX.Element][]) : []),
                ]}
            />
            <p class="muted">{words.aboutHint}</p>
        </section>
    );
}

// For a verdict that was given before, too: `corrects`.
export function SettleForm(props: { of: RecordDetails; query: string; corrects?: boolean; done: () => void }) {
    const [draft, setDraft] = useState<Draft>(() => firstDraft(props.of));
    const [asking, setAsking] = useState(false);
    const [busy, setBusy] = useState(false);
    const [problem, setProblem] = useState<Problem | null>(null);
    const set = (change: Partial<Draft>) => setDraft((before) => ({ ...before, ...change }));

    const send = () => {
        setBusy(true);
        api.resolve(props.query, verdictOf({ ...draft, fence: props.of.fence }))
            .then(
                () => notice(props.corrects ? words.corrected : words.done),
                (why: Problem) => {
                    if (why.status === 409) notice(words.conflict);
                    else setProblem(why);
                },
            )
            .finally(() => {
                setBusy(false);
                setAsking(false);
                props.done();
            });
    };
    const retried = props.of.standing === "lapsed";
    const answers = draft.verdict === "committed";
    const broken = answers && isBrokenJson(draft.type, draft.body);
    const lead = retried ? words.leadRetry : words.lead;
    return (
        <Card title={props.corrects ? words.correctTitle : words.title} class="settle">
            <p class="muted">{props.corrects ? words.correctLead : lead}</p>
            <About of={props.of} />
            {problem && <Trouble problem={problem} />}
            <form
                onSubmit={(event) => {
                    event.preventDefault();
                    setProblem(null);
                    if (!broken) setAsking(true);
                }}
            >
                <fieldset class="verdicts">
                    <legend>{words.verdict}</legend>
                    {verdicts.map((one) => (
                        <label key={one} class={draft.verdict === one ? "chosen" : ""}>
                            <input
                                type="radio"
                                name="verdict"
                                value={one}
                                required
                                checked={draft.verdict === one}
                                onChange={() => set({ verdict: one })}
                            />
                            <span>
                                {words[one]}
                                <small>{words[`${one}Help`]}</small>
                            </span>
                        </label>
                    ))}
                </fieldset>
                {answers && <Answer draft={draft} set={set} broken={broken} ask={props.of.holds === "unknown"} />}
                {draft.verdict === "failed" && (
                    <Field label={words.error} wide>
                        <input
                            name="error"
                            required
                            maxLength={4096}
                            value={draft.error}
                            onInput={(event) => set({ error: (event.currentTarget as HTMLInputElement).value })}
                        />
                    </Field>
                )}
                <Field label={words.reason} hint={words.reasonHint} wide>
                    <input
                        name="reason"
                        required
                        maxLength={1000}
                        value={draft.reason}
                        onInput={(event) => set({ reason: (event.currentTarget as HTMLInputElement).value })}
                    />
                </Field>
                <button type="submit" class="primary" disabled={broken}>
                    {words.submit}
                </button>
            </form>
            <Dialog
                title={words.confirmTitle}
                open={asking}
                onClose={() => setAsking(false)}
                confirm={{ label: words.confirm, busy, danger: draft.verdict === "not_executed", go: send }}
            >
                <p>
                    <strong>{draft.verdict && words[draft.verdict]}.</strong> {words.confirmText[draft.verdict]}
                </p>
                <p>
                    <code>
                        {props.of.tenant} {props.of.operation} {props.of.key}
                    </code>
                </p>
                {draft.verdict === "committed" && draft.holds === "responses" && (
                    <p>
                        <code class="status">{draft.status}</code> {draft.type}
                    </p>
                )}
                {draft.verdict === "committed" && draft.body && <Text text={pretty(draft.body)} />}
                {draft.verdict === "failed" && <p class="quote">{draft.error}</p>}
                <p class="muted">{words.fenced}</p>
            </Dialog>
        </Card>
    );
}

function Answer(props: { draft: Draft; set: (change: Partial<Draft>) => void; broken: boolean; ask: boolean }) {
    const { draft, set } = props;
    // "response": no configuration says what clients read, so that is asked.
    const choose = (kind: string) => set({ kind, ...(props.ask ? { holds: kind === "response" ? "responses" : "plain" } : {}) });
    const text = (name: keyof Draft) => ({
        name,
        value: draft[name],
        autocomplete: "off",
        onInput: (event: Event) => set({ [name]: (event.currentTarget as HTMLInputElement).value }),
    });
    return (
        <div class="answer">
            {(props.ask || draft.holds !== "responses") && (
                <Field label={words.kind}>
                    <select
                        name="kind"
                        required
                        value={draft.kind}
                        onChange={(event) => choose((event.currentTarget as HTMLSelectElement).value)}
                    >
                        {props.ask && <option value="">{words.chooseKind}</option>}
                        <option value="value">{t.record.kinds["value"]}</option>
                        <option value="rejection">{t.record.kinds["rejection"]}</option>
                        {props.ask && <option value="response">{words.asResponse}</option>}
                    </select>
                </Field>
            )}
            {draft.holds === "responses" && (
                <Field label={words.status}>
                    <input {...text("status")} required inputMode="numeric" pattern="[2-5][0-9][0-9]" />
                </Field>
            )}
            <Field label={words.type}>
                <input {...text("type")} spellcheck={false} />
            </Field>
            <Field label={words.ref}>
                <input {...text("ref")} maxLength={255} spellcheck={false} />
            </Field>
            <Field label={words.body} wide>
                <textarea
                    name="body"
                    rows={4}
                    spellcheck={false}
                    value={draft.body}
                    onInput={(event) => set({ body: (event.currentTarget as HTMLTextAreaElement).value })}
                />
            </Field>
            {props.broken && (
                <p class="note" role="alert">
                    {words.notJson}
                </p>
            )}
        </div>
    );
}

export function RemoveForm(props: { query: string }) {
    const [reason, setReason] = useState("");
    const [asking, setAsking] = useState(false);
    const [problem, setProblem] = useState<Problem | null>(null);
    const send = () => {
        setAsking(false);
        api.remove(props.query, reason).then(() => {
            notice(t.remove.done);
            location.hash = link("records");
        }, setProblem);
    };
    return (
        <details class="card danger-zone">
            <summary>{t.remove.title}</summary>
            <p class="muted">{t.remove.lead}</p>
            {problem && <Trouble problem={problem} />}
            <form
                onSubmit={(event) => {
                    event.preventDefault();
                    setAsking(true);
                }}
            >
                <Field label={t.remove.reason} wide>
                    <input
                        name="remove-reason"
                        required
                        maxLength={1000}
                        value={reason}
                        onInput={(event) => setReason((event.currentTarget as HTMLInputElement).value)}
                    />
                </Field>
                <button type="submit" class="danger">
                    {t.remove.submit}
                </button>
            </form>
            <Dialog
                title={t.remove.confirmTitle}
                open={asking}
                onClose={() => setAsking(false)}
                confirm={{ label: t.remove.confirm, danger: true, go: send }}
            >
                <p>{t.remove.confirmText}</p>
                <p class="quote">{reason}</p>
            </Dialog>
        </details>
    );
}
