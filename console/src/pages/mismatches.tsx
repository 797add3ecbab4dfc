import { api, type Mismatch } from "../api";
import { groups, relative } from "../format";
import { Copy, Empty, Loading, Page, Trouble, When } from "../parts";
import { link } from "../route";
import { useLoaded, useNow, useRefreshKey } from "../state";
import { t } from "../texts";

const words = t.mismatches;

export function MismatchesPage() {
    const { value, problem, busy, reload } = useLoaded(api.mismatches, "mismatches", 5_000);
    const now = useNow(5_000);
    useRefreshKey(reload);
    return (
        <Page
            title={words.title}
            lead={words.lead}
            aside={
                <button type="button" class="small" onClick={reload} disabled={busy}>
                    {t.common.refresh}
                </button>
            }
        >
            {problem && <Trouble problem={problem} retry={reload} />}
            {!value && !problem && <Loading />}
            {value && value.mismatches.length === 0 && <Empty title={words.empty} help={words.emptyHelp} />}
            {value && value.mismatches.length > 0 && <Table lines={value.mismatches} now={now} />}
            {value && <p class="muted">{words.instance(value.mismatches_max, relative(value.started_at, now))}</p>}
        </Page>
    );
}

function Print(props: { hex: string; what: string }) {
    return (
        <span class="print">
            <code>
                {groups(props.hex).map((one, at) => (
                    <span key={at}>{one} </span>
                ))}
            </code>
            <Copy text={props.hex} what={props.what} />
        </span>
    );
}

function Table(props: { lines: Mismatch[]; now: number }) {
    const columns = t.records.columns;
    return (
        <table class="rows">
            <thead>
                <tr>
                    <th>{words.last}</th>
                    <th>{columns.key}</th>
                    <th>{columns.operation}</th>
                    <th>{columns.tenant}</th>
                    <th class="number">{words.count}</th>
                    <th>{words.held}</th>
                    <th>{words.asked}</th>
                </tr>
            </thead>
            <tbody>
                {props.lines.map((one, at) => (
                    <tr key={`${one.record} ${one.asked} ${at}`} data-to={link("record", one.record)}>
                        <td data-label={words.last}>
                            <When at={one.at} now={props.now} />
                        </td>
                        <td class="key">
                            <a href={link("record", one.record)}>{one.key}</a>
                        </td>
                        <td data-label={columns.operation}>{one.operation}</td>
                        <td data-label={columns.tenant}>{one.tenant}</td>
                        <td class="number" data-label={words.count}>
                            {one.times}
                        </td>
                        <td data-label={words.held}>
                            <Print hex={one.held} what={words.held} />
                        </td>
                        <td data-label={words.asked}>
                            <Print hex={one.asked} what={words.asked} />
                        </td>
                    </tr>
                ))}
            </tbody>
        </table>
    );
}
