import { useState } from "preact/hooks";
import { api, type AuditEntry, type RecordDetails, type Session, type StoredResult } from "../api";
import { clock, duration, groups, size } from "../format";
import { Badge, BytesView, Card, Copy, Facts, Loading, Page, Trouble, When } from "../parts";
import { link } from "../route";
import { useLoaded, useNow, useRefreshKey } from "../state";
import { runsAgain, timelineOf } from "../timeline";
import { t } from "../texts";
import { RemoveForm, SettleForm } from "./settle";

const words = t.record;
const running_ms = 2_000;

export function RecordPage(props: { query: string; session: Session }) {
    const [every, setEvery] = useState(0);
    const { value, problem, busy, reload } = useLoaded(() => api.record(props.query), props.query, every);
    useRefreshKey(reload);
    // While its owner works the page follows; a form that is being filled in stays as it is.
    const follow = value?.standing === "running" ? running_ms : 0;
    if (follow !== every) setEvery(follow);
    if (problem?.status === 404) return <Missing audit={(problem.body as { audit?: AuditEntry[] })?.audit ?? []} />;
    if (!value) return problem ? <Trouble problem={problem} retry={reload} /> : <Loading />;
    const admin = props.session.role === "admin";
    const usedUp = value.state === "failed_retryable" && !runsAgain(value);
    return (
        <Page
            title={
                <>
                    <a class="crumb" href={link("records", { tenant: value.tenant, operation: value.operation })}>
                        {value.operation}
                    </a>
                    <span class="record-key">{value.key}</span>
                </>
            }
            aside={
                <>
                    <Badge of={value.standing} />
                    <Copy text={value.key} what={t.records.key} />
                    <button type="button" class="small" onClick={reload} disabled={busy}>
                        {t.common.refresh}
                    </button>
                </>
            }
            lead={usedUp ? words.usedUp : (t.stateHelp[value.standing] ?? "")}
        >
            {problem && <Trouble problem={problem} retry={reload} />}
            {value.state === "processing" && <Lease of={value} over={reload} />}
            {value.may_resolve && admin && <SettleForm of={value} query={props.query} done={reload} />}
            {value.may_correct && admin && (
                <details class="card">
                    <summary>{t.settle.correctTitle}</summary>
                    <SettleForm of={value} query={props.query} corrects done={reload} />
                </details>
            )}
            {value.may_resolve && !admin && <p class="note">{t.session.readOnly}</p>}
            <div class="columns">
                <div>
                    <Timeline of={value} />
                    {value.error !== undefined && value.error !== "" && (
                        <Card title={words.error}>
                            <pre class="text wrap">{value.error}</pre>
                        </Card>
                    )}
                    {value.result && <Result of={value.result} />}
                    {value.checkpoints.length > 0 && <Checkpoints of={value} />}
                    {value.attributes !== undefined && (
                        <Card title={words.attributes}>
                            <BytesView
                                of={{ bytes: value.attributes.length, text: value.attributes }}
                                what={words.attributes}
                            />
                        </Card>
                    )}
                </div>
                <div>
                    <FactsCard of={value} />
                    <Card title={words.audit}>
                        <Audit of={value.audit} />
                    </Card>
                    {admin && <RemoveForm query={props.query} />}
                </div>
            </div>
        </Page>
    );
}

function Missing(props: { audit: AuditEntry[] }) {
    return (
        <Page title={words.missing} lead={words.missingHelp}>
            <Card title={words.audit}>
                <Audit of={props.audit} />
            </Card>
        </Page>
    );
}

// Counts down on this machine's clock from what the store said was left.
function Lease(props: { of: RecordDetails; over: () => void }) {
    const { of } = props;
    const now = useNow(250);
    const [said] = useState({ of, at: Date.now() });
    if (said.of !== of) {
        said.of = of;
        said.at = Date.now();
    }
    const left = (of.lease_ms ?? 0) - (now - said.at);
    const whole = Math.max(1, Date.parse(of.lease_until ?? "") - Date.parse(of.begun_at));
    const share = Math.max(0, Math.min(1, left / whole));
    const over = left <= 0;
    return (
        <div class={over ? "lease over" : "lease"} role="timer" aria-label={words.lease}>
            <span>{words.lease}</span>
            <progress max={1} value={share} aria-label={words.lease} />
            <strong>{over ? words.leaseOver(duration(-left)) : words.leaseLeft(duration(left < 10_000 ? left : Math.ceil(left / 1_000) * 1_000))}</strong>
        </div>
    );
}

function Timeline(props: { of: RecordDetails }) {
    return (
        <Card title={words.timeline}>
            <ol class="timeline">
                {timelineOf(props.of).map((one, at) => (
                    <li key={at} class={one.tone}>
                        <p>
                            {one.what}
                            {one.note && <small> {one.note}</small>}
                        </p>
                        {one.at && (
                            <p class="muted">
                                <span class="stamp">{clock(one.at)}</span> <When at={one.at} now={props.of.now} />
                            </p>
                        )}
                        {one.detail && <p class="quote">{one.detail}</p>}
                    </li>
                ))}
            </ol>
        </Card>
    );
}

function FactsCard(props: { of: RecordDetails }) {
    const { of } = props;
    const print = of.fingerprint;
    return (
        <Card title={words.facts}>
            <Facts
                of={[
                    [words.tenant, of.tenant],
                    [words.operation, of.operation],
                    [words.attempts, words.attemptsOf(of.attempts, of.policy.attempts_max)],
                    [words.fence, <code>{of.fence}</code>],
                    [words.policy, words.policies[of.policy.on_lease_expiry]],
                    [words.created, <When at={of.created_at} now={of.now} />],
                    [words.changed, <When at={of.updated_at} now={of.now} />],
                    ...(of.expires_at
                        ? ([[words.expires, <When at={of.expires_at} now={of.now} />]] as [string, preact.JSX.Element][])
                        : []),
                    [
                        words.fingerprint,
                        print ? (
                            <span class="print">
                                <code>
                                    {groups(print).map((one, at) => (
                                        <span key={at}>{one} </span>
                                    ))}
                                </code>
                                <Copy text={print} what={words.fingerprint} />
                            </span>
                        ) : (
                            words.noFingerprint
                        ),
                    ],
                ]}
            />
        </Card>
    );
}

function Result(props: { of: StoredResult }) {
    const { of } = props;
    const response = of.response;
    const facts: [string, preact.ComponentChildren][] = [];
    if (response) facts.push([words.status, <code class="status">{response.status}</code>]);
    facts.push([words.type, response ? response.type || t.common.none : of.type || t.common.none]);
    if (of.ref) facts.push([words.ref, of.ref]);
    facts.push([words.size, size(response?.body.bytes ?? of.bytes)]);
    const body = response?.body ?? of.body;
    const others = response?.headers.filter(([name]) => name.toLowerCase() !== "content-type") ?? [];
    return (
        <Card title={response ? words.response : words.result}>
            {of.unreadable && <p class="trouble">{words.unreadable}</p>}
            {of.kind !== "value" && <p class="note">{words.kinds[of.kind]}</p>}
            <Facts of={facts} />
            {others.length > 0 && (
                <>
                    <h3>{words.headers}</h3>
                    <Facts of={others} />
                </>
            )}
            {body && <BytesView of={body} what={words.result} />}
        </Card>
    );
}

function Checkpoints(props: { of: RecordDetails }) {
    return (
        <Card title={words.checkpoints}>
            {props.of.checkpoints.map((one) => (
                <details key={one.name}>
                    <summary>
                        {one.name} <small>{size(one.data.bytes)}</small>
                    </summary>
                    <BytesView of={one.data} what={one.name} />
                </details>
            ))}
        </Card>
    );
}

function stateName(state: string): string {
    return t.states[state] ?? state;
}

function Audit(props: { of: AuditEntry[] }) {
    if (props.of.length === 0) return <p class="muted">{words.auditEmpty}</p>;
    return (
        <ul class="audit">
            {props.of.map((one, at) => (
                <li key={at}>
                    <p>
                        <strong>{one.act}</strong> <small>{words.by(one.actor)}</small>
                    </p>
                    <p class="quote">{one.reason}</p>
                    <p class="muted">
                        <span class="stamp">{clock(one.at)}</span> {words.fenceOf(one.fence)}
                        {one.from && `, ${words.went(stateName(one.from), one.to ? stateName(one.to) : words.gone)}`}
                    </p>
                </li>
            ))}
        </ul>
    );
}
