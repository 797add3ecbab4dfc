import { useEffect, useRef, useState } from "preact/hooks";
import { api, type Problem, type RecordLine, type Session } from "../api";
import { isDuration } from "../format";
import { Badge, Empty, Field, Loading, Page, Trouble, When } from "../parts";
import { fields, link } from "../route";
import { useNow, useRefreshKey } from "../state";
import { t } from "../texts";

const words = t.records;
const states = ["processing", "succeeded", "failed_retryable", "failed_final"];
const names: Record<string, string> = { ...t.states, processing: `${t.states["running"]} / ${t.states["lapsed"]}` };

// A page may be empty though there are more: the store looks at a bounded number at a time.
const empty_pages_max = 10;

interface Found {
    lines: RecordLine[];
    cursor: string;
}

async function search(query: Record<string, string>, from: Found | null): Promise<Found> {
    let cursor = from?.cursor ?? "";
    const lines = [...(from?.lines ?? [])];
    const before = lines.length;
    for (let page = 0; page < empty_pages_max; ++page) {
        const got = await api.records({ ...query, cursor });
        lines.push(...got.records);
        cursor = got.cursor;
        if (!cursor || lines.length > before) break;
    }
    return { lines, cursor };
}

export function useSearch(query: Record<string, string>) {
    const [found, setFound] = useState<Found | null>(null);
    const [problem, setProblem] = useState<Problem | null>(null);
    const [busy, setBusy] = useState(true);
    const key = JSON.stringify(query);
    const latest = useRef(0);

    const run = (from: Found | null) => {
        const mine = ++latest.current;
        setBusy(true);
        search(query, from).then(
            (got) => {
                if (mine !== latest.current) return;
                setFound(got);
                setProblem(null);
                setBusy(false);
            },
            (why: Problem) => {
                if (mine !== latest.current) return;
                setProblem(why);
                setBusy(false);
            },
        );
    };
    useEffect(() => {
        setFound(null);
        setProblem(null);
        run(null);
    }, [key]);
    return { found, problem, busy, more: () => run(found), again: () => run(null) };
}

function Filters(props: { query: Record<string, string>; session: Session }) {
    const { query, session } = props;
    const [ageKind, setAgeKind] = useState(query["older"] ? "older" : query["newer"] ? "newer" : "");
    const own = session.role === "read" ? session.tenant : undefined;
    const submit = (event: SubmitEvent) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget as HTMLFormElement);
        const value = (name: string) => String(form.get(name) ?? "").trim();
        const next: Record<string, string> = {};
        for (const name of ["tenant", "operation", "key", "state", "result_ref"]) next[name] = value(name);
        const age = value("age").replaceAll(" ", "");
        if (ageKind && age) next[ageKind] = isDuration(age) ? age : `${age}m`;
        location.hash = link("records", next);
    };
    return (
        <form class="filters" role="search" aria-label={words.filters} onSubmit={submit} key={JSON.stringify(query)}>
            <Field label={words.key} wide>
                <input name="key" defaultValue={query["key"]} autocomplete="off" spellcheck={false} data-first />
            </Field>
            <Field label={words.operation}>
                <input name="operation" defaultValue={query["operation"]} autocomplete="off" spellcheck={false} />
            </Field>
            <Field label={words.tenant}>
                <input
                    name="tenant"
                    defaultValue={own ?? query["tenant"]}
                    readOnly={own !== undefined}
                    autocomplete="off"
                    spellcheck={false}
                />
            </Field>
            <Field label={words.ref}>
                <input name="result_ref" defaultValue={query["result_ref"]} autocomplete="off" spellcheck={false} />
            </Field>
            <Field label={words.state}>
                <select name="state" defaultValue={query["state"] ?? ""}>
                    <option value="">{words.anyState}</option>
                    {states.map((one) => (
                        <option key={one} value={one} selected={query["state"] === one}>
                            {names[one]}
                        </option>
                    ))}
                </select>
            </Field>
            <Field label={words.age}>
                <select value={ageKind} onChange={(event) => setAgeKind((event.currentTarget as HTMLSelectElement).value)}>
                    <option value="">{words.anyAge}</option>
                    <option value="older">{words.older}</option>
                    <option value="newer">{words.newer}</option>
                </select>
            </Field>
            {ageKind && (
                <Field label={words.ageFor} hint={words.ageHint}>
                    <input
                        name="age"
                        required
                        defaultValue={query["older"] ?? query["newer"] ?? ""}
                        pattern="\s*(\d+\s*(us|ms|s|m|h|d)?\s*)+"
                        title={words.ageHint}
                        autocomplete="off"
                    />
                </Field>
            )}
            <div class="filter-tools">
                <button type="submit" class="primary">
                    {words.search}
                </button>
                <a class="button" href={link("records")}>
                    {words.clear}
                </a>
            </div>
        </form>
    );
}

export function RecordsPage(props: { query: string; session: Session }) {
    const query = fields(props.query);
    const { found, problem, busy, more, again } = useSearch(query);
    const now = useNow(10_000);
    useRefreshKey(again);
    return (
        <Page
            title={words.title}
            aside={
                <button type="button" class="small" onClick={again} disabled={busy}>
                    {t.common.refresh}
                </button>
            }
        >
            <Filters query={query} session={props.session} />
            {problem && <Trouble problem={problem} retry={again} />}
            {!found && !problem && <Loading />}
            {found && <List found={found} busy={busy} now={now} more={more} />}
        </Page>
    );
}

function List(props: { found: Found; busy: boolean; now: number; more: () => void }) {
    const { found } = props;
    const rest = found.cursor !== "";
    if (found.lines.length === 0) {
        return rest ? (
            <Empty title={words.sparse}>
                <button type="button" onClick={props.more} disabled={props.busy}>
                    {t.common.more}
                </button>
            </Empty>
        ) : (
            <Empty title={words.empty} help={words.emptyHelp} />
        );
    }
    return (
        <>
            <p class="muted" role="status">
                {words.found(found.lines.length, rest)}
            </p>
            <RecordTable lines={found.lines} now={props.now} />
            {rest && (
                <p class="more">
                    <button type="button" onClick={props.more} disabled={props.busy}>
                        {t.common.more}
                    </button>
                </p>
            )}
        </>
    );
}

function RecordTable(props: { lines: RecordLine[]; now: number }) {
    const columns = words.columns;
    return (
        <table class="rows compact">
            <thead>
                <tr>
                    <th>{columns.state}</th>
                    <th>{columns.key}</th>
                    <th>{columns.operation}</th>
                    <th>{columns.tenant}</th>
                    <th class="number">{columns.attempts}</th>
                    <th>{columns.created}</th>
                    <th>{columns.ref}</th>
                </tr>
            </thead>
            <tbody>
                {props.lines.map((one) => (
                    <tr key={one.at} data-to={link("record", one.at)}>
                        <td>
                            <Badge of={one.standing} />
                        </td>
                        <td class="key">
                            <a href={link("record", one.at)}>{one.key}</a>
                        </td>
                        <td data-label={columns.operation}>{one.operation}</td>
                        <td data-label={columns.tenant}>{one.tenant}</td>
                        <td class="number minor" data-label={columns.attempts}>
                            {one.attempts}
                        </td>
                        <td data-label={columns.created}>
                            <When at={one.created_at} now={props.now} />
                        </td>
                        <td class={one.ref ? "key" : "key minor"} data-label={columns.ref}>
                            {one.ref || t.common.none}
                        </td>
                    </tr>
                ))}
            </tbody>
        </table>
    );
}
