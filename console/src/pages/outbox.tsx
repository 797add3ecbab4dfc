import { useEffect, useState } from "preact/hooks";
import { api, Problem, type Backlog, type OutboxRow, type Session } from "../api";
import { count, duration } from "../format";
import { BytesView, Dialog, Empty, Facts, Loading, Page, Trouble, When } from "../parts";
import { fields, link } from "../route";
import { useLoaded, useNow, useRefreshKey } from "../state";
import { notice } from "../notice";
import { t } from "../texts";

const words = t.outbox;

export function OutboxPage(props: { query: string; session: Session }) {
    const { value, problem, busy, reload } = useLoaded(api.outbox, "outbox", 5_000);
    const [turn, setTurn] = useState(0);
    const status = fields(props.query)["status"] ?? "dead";
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
                <>
                    <label class="inline">
                        {words.status}{" "}
                        <select
                            value={status}
                            data-first
                            onChange={(event) => {
                                location.hash = link("outbox", { status: (event.currentTarget as HTMLSelectElement).value });
                            }}
                        >
                            {Object.entries(words.statuses).map(([name, label]) => (
                                <option key={name} value={name}>
                                    {label}
                                </option>
                            ))}
                        </select>
                    </label>
                    <button type="button" class="small" onClick={again} disabled={busy}>
                        {t.common.refresh}
                    </button>
                </>
            }
        >
            {problem && <Trouble problem={problem} retry={again} />}
            {!value && !problem && <Loading />}
            {value && (
                <>
                    <Tiles of={value} />
                    <Rows key={`${status} ${turn}`} status={status} session={props.session} changed={again} />
                </>
            )}
        </Page>
    );
}

function Tiles(props: { of: Backlog }) {
    const { waiting, dead, count_max, oldest_ms } = props.of;
    const most = (number: number) => `${count(number)}${count_max > 0 && number >= count_max ? "+" : ""}`;
    return (
        <div class="tiles three">
            <div class="tile">
                <span class="tile-name">{words.waiting}</span>
                <span class="tile-value">{most(waiting)}</span>
                <span class="tile-note">{words.waitingHelp}</span>
            </div>
            <div class="tile">
                <span class="tile-name">{words.oldest}</span>
                <span class="tile-value">{waiting ? duration(oldest_ms) : t.common.none}</span>
            </div>
            <div class={dead ? "tile warn" : "tile"}>
                <span class="tile-name">{words.dead}</span>
                <span class="tile-value">{most(dead)}</span>
                <span class="tile-note">{words.deadHelp}</span>
            </div>
        </div>
    );
}

function Rows(props: { status: string; session: Session; changed: () => void }) {
    const { status } = props;
    const [rows, setRows] = useState<OutboxRow[] | null>(null);
    const [after, setAfter] = useState("");
    const [problem, setProblem] = useState<Problem | null>(null);
    const [chosen, setChosen] = useState<Set<string>>(new Set());
    const [asking, setAsking] = useState(false);
    const [seen, setSeen] = useState<OutboxRow | null>(null);
    const acts = props.session.role === "admin" && status === "dead";

    const load = (from: string) =>
        api.outboxRows({ status, after: from }).then((got) => {
            setRows((before) => [...(from ? (before ?? []) : []), ...got.rows]);
            setAfter(got.after);
        }, setProblem);
    useEffect(() => void load(""), []);

    const requeue = () => {
        setAsking(false);
        api.requeue([...chosen]).then((got) => {
            notice(words.done(got.count));
            props.changed();
        }, setProblem);
    };
    const all = rows ?? [];
    if (problem && !rows) return <Trouble problem={problem} />;
    if (!rows) return <Loading />;
    if (rows.length === 0) return <Empty title={words.empty[status] ?? t.common.none} />;
    return (
        <>
            {problem && <Trouble problem={problem} />}
            <div class="row-tools">
                <p class="muted">{words.lead[status]}</p>
                {acts && (
                    <button type="button" class="primary small" disabled={chosen.size === 0} onClick={() => setAsking(true)}>
                        {words.requeue(chosen.size)}
                    </button>
                )}
            </div>
            <Table rows={rows} chosen={acts ? chosen : null} choose={setChosen} show={(row) => void api.outboxRow(row).then(setSeen, setProblem)} />
            {after && (
                <p class="more">
                    <button type="button" onClick={() => void load(after)}>
                        {t.common.more}
                    </button>
                </p>
            )}
            <Dialog
                title={words.confirmTitle}
                open={asking}
                onClose={() => setAsking(false)}
                confirm={{ label: words.confirm, go: requeue }}
            >
                <p>{words.confirmText(chosen.size)}</p>
                <ul class="ids">
                    {all.filter((one) => chosen.has(one.row)).map((one) => (
                        <li key={one.row}>
                            <code>{one.id}</code> {one.topic}
                        </li>
                    ))}
                </ul>
            </Dialog>
            <Dialog title={seen?.id ?? words.payload} open={seen !== null} onClose={() => setSeen(null)}>
                {seen && <Whole of={seen} />}
            </Dialog>
        </>
    );
}

function Table(props: {
    rows: OutboxRow[];
    chosen: Set<string> | null;
    choose: (which: Set<string>) => void;
    show: (row: string) => void;
}) {
    const { rows, chosen } = props;
    const now = useNow(10_000);
    const toggle = (row: string) => {
        const next = new Set(chosen ?? []);
        if (!next.delete(row)) next.add(row);
        props.choose(next);
    };
    const toggleAll = () => props.choose(new Set(chosen?.size === rows.length ? [] : rows.map((one) => one.row)));
    return (
        <table class="rows">
            <thead>
                <tr>
                    {chosen && (
                        <th>
                            <input type="checkbox" aria-label={words.selectAll} checked={chosen.size === rows.length} onChange={toggleAll} />
                        </th>
                    )}
                    <th>{words.event}</th>
                    <th>{words.topic}</th>
                    <th>{words.key}</th>
                    <th class="number">{words.attempts}</th>
                    <th>{words.created}</th>
                    <th>{words.error}</th>
                    <th />
                </tr>
            </thead>
            <tbody>
                {rows.map((one) => (
                    <tr key={one.row}>
                        {chosen && (
                            <td class="pick">
                                <input
                                    type="checkbox"
                                    aria-label={words.select(one.id)}
                                    checked={chosen.has(one.row)}
                                    onChange={() => toggle(one.row)}
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
                        <td data-label={words.created}>
                            <When at={one.created_at} now={now} />
                        </td>
                        <td class="long" data-label={words.error}>
                            {one.error || t.common.none}
                        </td>
                        <td class="act">
                            <button type="button" class="small" onClick={() => props.show(one.row)}>
                                {words.show}
                            </button>
                        </td>
                    </tr>
                ))}
            </tbody>
        </table>
    );
}

function Whole(props: { of: OutboxRow }) {
    const { topic, key, error, payload, headers } = props.of;
    return (
        <>
            <Facts
                of={[
                    [words.topic, topic],
                    [words.key, key],
                    [words.error, error || t.common.none],
                ]}
            />
            <h3>{words.headers}</h3>
            <Facts of={headers ?? []} />
            <h3>{words.payload}</h3>
            {payload && <BytesView of={payload} what={words.payload} />}
        </>
    );
}
