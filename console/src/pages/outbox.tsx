import { useEffect, useState } from "preact/hooks";
import { api, Problem, type Letter, type Session, type Topic } from "../api";
import { count, duration } from "../format";
import { BytesView, Card, Dialog, Empty, Facts, Loading, Page, Trouble, When } from "../parts";
import { useLoaded, useNow, useRefreshKey } from "../state";
import { notice } from "../notice";
import { t } from "../texts";

const words = t.outbox;

export function OutboxPage(props: { session: Session }) {
    const { value, problem, busy, reload } = useLoaded(api.outbox, "outbox", 5_000);
    const [turn, setTurn] = useState(0);
    const again = () => {
        reload();
        setTurn((now) => now + 1);
    };
    useRefreshKey(again);
    if (problem?.status === 404) {
        return (
            <Page title={words.title}>
                <Empty title={words.none} help={words.noneHelp} />
            </Page>
        );
    }
    return (
        <Page
            title={words.title}
            aside={
                <button type="button" class="small" onClick={again} disabled={busy}>
                    {t.common.refresh}
                </button>
            }
        >
            {problem && <Trouble problem={problem} retry={again} />}
            {!value && !problem && <Loading />}
            {value && (
                <>
                    <Card title={words.backlog}>
                        {value.topics.length ? <Topics of={value.topics} /> : <Empty title={words.backlogEmpty} />}
                    </Card>
                    <DeadLetters key={turn} session={props.session} changed={again} />
                </>
            )}
        </Page>
    );
}

function Topics(props: { of: Topic[] }) {
    return (
        <table class="plain">
            <thead>
                <tr>
                    <th>{words.topic}</th>
                    <th class="number">{words.waiting}</th>
                    <th class="number">{words.underWay}</th>
                    <th class="number">{words.dead}</th>
                    <th class="number">{words.oldest}</th>
                </tr>
            </thead>
            <tbody>
                {props.of.map((one) => (
                    <tr key={one.topic}>
                        <th scope="row">{one.topic}</th>
                        <td class="number">{count(one.waiting)}</td>
                        <td class="number">{count(one.under_way)}</td>
                        <td class={one.dead ? "number bad" : "number"}>{count(one.dead)}</td>
                        <td class="number">{one.waiting ? duration(one.oldest_ms) : t.common.none}</td>
                    </tr>
                ))}
            </tbody>
        </table>
    );
}

function DeadLetters(props: { session: Session; changed: () => void }) {
    const [letters, setLetters] = useState<Letter[] | null>(null);
    const [cursor, setCursor] = useState("");
    const [problem, setProblem] = useState<Problem | null>(null);
    const [chosen, setChosen] = useState<Set<string>>(new Set());
    const [asking, setAsking] = useState(false);
    const [seen, setSeen] = useState<Letter | null>(null);
    const now = useNow(10_000);
    const admin = props.session.role === "admin";

    const load = (from: string) =>
        api.dead(from).then((got) => {
            setLetters((before) => [...(from ? (before ?? []) : []), ...got.letters]);
            setCursor(got.cursor);
        }, setProblem);
    useEffect(() => void load(""), []);

    const requeue = () => {
        setAsking(false);
        api.requeue([...chosen]).then((got) => {
            notice(words.done(got.count));
            props.changed();
        }, setProblem);
    };
    const toggle = (id: string) => {
        const next = new Set(chosen);
        if (!next.delete(id)) next.add(id);
        setChosen(next);
    };
    return (
        <Card
            title={words.deadTitle}
            aside={
                admin &&
                !!letters?.length && (
                    <button type="button" class="primary small" disabled={chosen.size === 0} onClick={() => setAsking(true)}>
                        {words.requeue(chosen.size)}
                    </button>
                )
            }
        >
            {problem && <Trouble problem={problem} />}
            {!letters && !problem && <Loading />}
            {letters?.length === 0 && <Empty title={words.deadEmpty} help={words.deadEmptyHelp} />}
            {!!letters?.length && (
                <>
                    <p class="muted">{words.deadLead}</p>
                    <table class="rows">
                        <thead>
                            <tr>
                                {admin && (
                                    <th>
                                        <input
                                            type="checkbox"
                                            aria-label={words.selectAll}
                                            checked={chosen.size === letters.length}
                                            onChange={() =>
                                                setChosen(
                                                    chosen.size === letters.length ? new Set() : new Set(letters.map((one) => one.id)),
                                                )
                                            }
                                        />
                                    </th>
                                )}
                                <th>{words.event}</th>
                                <th>{words.topic}</th>
                                <th>{words.key}</th>
                                <th class="number">{words.attempts}</th>
                                <th>{words.since}</th>
                                <th>{words.error}</th>
                                <th />
                            </tr>
                        </thead>
                        <tbody>
                            {letters.map((one) => (
                                <tr key={one.id}>
                                    {admin && (
                                        <td class="pick">
                                            <input
                                                type="checkbox"
                                                aria-label={words.select(one.id)}
                                                checked={chosen.has(one.id)}
                                                onChange={() => toggle(one.id)}
                                            />
                                        </td>
                                    )}
                                    <td class="key">{one.id}</td>
                                    <td data-label={words.topic}>{one.topic}</td>
                                    <td class="key" data-label={words.key}>
                                        {one.key}
                                    </td>
                                    <td class="number" data-label={words.attempts}>
                                        {one.attempts}
                                    </td>
                                    <td data-label={words.since}>
                                        <When at={one.updated_at} now={now} />
                                    </td>
                                    <td class="long" data-label={words.error}>
                                        {one.error}
                                    </td>
                                    <td class="act">
                                        {admin && (
                                            <button
                                                type="button"
                                                class="small"
                                                onClick={() => void api.letter(one.id).then(setSeen, setProblem)}
                                            >
                                                {words.show}
                                            </button>
                                        )}
                                    </td>
                                </tr>
                            ))}
                        </tbody>
                    </table>
                    {!admin && <p class="muted">{words.noPayload}</p>}
                    {cursor && (
                        <p class="more">
                            <button type="button" onClick={() => void load(cursor)}>
                                {t.common.more}
                            </button>
                        </p>
                    )}
                </>
            )}
            <Dialog
                title={words.confirmTitle}
                open={asking}
                onClose={() => setAsking(false)}
                confirm={{ label: words.confirm, go: requeue }}
            >
                <p>{words.confirmText(chosen.size)}</p>
            </Dialog>
            <Dialog title={seen?.id ?? words.payload} open={seen !== null} onClose={() => setSeen(null)}>
                {seen && <Whole of={seen} />}
            </Dialog>
        </Card>
    );
}

function Whole(props: { of: Letter }) {
    const { topic, key, error, payload, headers } = props.of;
    return (
        <>
            <Facts
                of={[
                    [words.topic, topic],
                    [words.key, key],
                    [words.error, error],
                ]}
            />
            <h3>{words.headers}</h3>
            <Facts of={headers ?? []} />
            <h3>{words.payload}</h3>
            {payload && <BytesView of={payload} what={words.payload} />}
        </>
    );
}
