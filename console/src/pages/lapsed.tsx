import type { RecordLine, Session } from "../api";
import { duration } from "../format";
import { Badge, Empty, Loading, Page, Trouble } from "../parts";
import { fields, link } from "../route";
import { useNow, useRefreshKey } from "../state";
import { t } from "../texts";
import { useSearch } from "./records";

const words = t.lapsed;
const times = ["0s", "1m", "5m", "10m", "1h", "1d"];

export function LapsedPage(props: { query: string; session: Session }) {
    const least = fields(props.query)["for"] ?? "0s";
    const { found, problem, busy, more, again } = useSearch({ lapsed_for: least });
    const now = useNow(1_000);
    useRefreshKey(again);
    return (
        <Page
            title={words.title}
            lead={words.lead}
            aside={
                <>
                    <label class="inline">
                        {words.for}{" "}
                        <select
                            value={least}
                            data-first
                            onChange={(event) => {
                                location.hash = link("lapsed", { for: (event.currentTarget as HTMLSelectElement).value });
                            }}
                        >
                            {times.map((one) => (
                                <option key={one} value={one}>
                                    {one === "0s" ? words.any : one}
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
            {!found && !problem && <Loading />}
            {found && found.lines.length === 0 && !found.cursor && <Empty title={words.empty} help={words.emptyHelp} />}
            {found && found.lines.length > 0 && <Table lines={found.lines} now={now} session={props.session} />}
            {found?.cursor && (
                <p class="more">
                    <button type="button" onClick={more} disabled={busy}>
                        {t.common.more}
                    </button>
                </p>
            )}
        </Page>
    );
}

function Table(props: { lines: RecordLine[]; now: number; session: Session }) {
    const columns = t.records.columns;
    return (
        <table class="rows compact">
            <thead>
                <tr>
                    <th>{columns.state}</th>
                    <th>{columns.key}</th>
                    <th>{columns.operation}</th>
                    <th>{columns.tenant}</th>
                    <th>{words.lapsed}</th>
                    <th class="number">{columns.attempts}</th>
                    <th>{words.policy}</th>
                    <th />
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
                        <td data-label={words.lapsed}>
                            {t.common.ago(duration(props.now - Date.parse(one.lease_until ?? "")))}
                        </td>
                        <td class="number minor" data-label={columns.attempts}>
                            {one.attempts}
                        </td>
                        <td class="minor" data-label={words.policy}>{t.record.policies[one.policy.on_lease_expiry]}</td>
                        <td class="act">
                            <a class="button small" href={link("record", one.at)}>
                                {props.session.role === "admin" && one.standing === "in_doubt" ? words.open : words.look}
                            </a>
                        </td>
                    </tr>
                ))}
            </tbody>
        </table>
    );
}
