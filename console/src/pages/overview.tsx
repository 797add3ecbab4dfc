import type { ComponentChildren } from "preact";
import type { Overview } from "../api";
import { Chart, Spark } from "../charts";
import { count, duration, latency, percent, rate, size } from "../format";
import { Card, Empty, Loading, Page, Trouble } from "../parts";
import { link } from "../route";
import { rates, recent } from "../series";
import type { Live } from "../live";
import { t } from "../texts";

const words = t.overview;
const refusals = ["in_progress", "mismatched", "failed", "in_doubt"];
const all = ["executed", "replayed", ...refusals, "unavailable"];

function Tile(props: {
    name: string;
    value: string;
    note?: string;
    tone?: string;
    to?: string;
    children?: ComponentChildren;
}) {
    const inside = (
        <>
            <span class="tile-name">{props.name}</span>
            <span class="tile-value">{props.value}</span>
            <span class="tile-note">{props.note}</span>
            {props.children}
        </>
    );
    const look = `tile ${props.tone ?? ""}`;
    return props.to ? (
        <a class={look} href={props.to}>
            {inside}
        </a>
    ) : (
        <div class={look}>{inside}</div>
    );
}

function StoreTile(props: { of: Overview["store"] }) {
    const { up, kind, round_trip_us } = props.of;
    return (
        <Tile
            name={words.tiles.store}
            value={kind}
            note={up ? `${words.tiles.up}, ${latency(round_trip_us)}` : words.tiles.down}
            tone={up ? "good" : "bad"}
        />
    );
}

function Tiles(props: { live: Live; of: Overview }) {
    const { series } = props.live;
    const minute = Math.max(1, Math.round(60_000 / props.of.every_ms));
    const replayed = recent(series, ["replayed"], minute);
    const answered = replayed + recent(series, ["executed"], minute);
    const requests = rates(series, all);
    const begin = props.of.latencies.find((one) => one.command === "begin");
    const lapsed = props.of.lapsed;
    const running = series["running"] ?? [];
    const tiles = words.tiles;
    return (
        <div class="tiles">
            <Tile name={tiles.requests} value={rate(requests.at(-1) ?? 0)} note={tiles.perSecond}>
                <Spark values={requests.slice(-60)} colour="c-executed" />
            </Tile>
            <Tile
                name={tiles.replays}
                value={answered ? percent(replayed / answered) : t.common.none}
                note={tiles.replaysHelp}
            >
                <Spark values={rates(series, ["replayed"]).slice(-60)} colour="c-replayed" />
            </Tile>
            <Tile
                name={tiles.running}
                value={count(running.at(-1) ?? 0)}
                note={tiles.waiting(series["waiting"]?.at(-1) ?? 0)}
            >
                <Spark values={running.slice(-60)} colour="c-running" />
            </Tile>
            <Tile
                name={tiles.begin}
                value={begin?.calls ? latency(begin.p99_us) : t.common.none}
                note={begin?.calls ? tiles.beginHelp : tiles.noTraffic}
            >
                <Spark values={(series["begin_p99_us"] ?? []).slice(-60)} colour="c-p99" />
            </Tile>
            <Tile
                name={tiles.lapsed}
                value={lapsed ? `${count(lapsed.records)}${lapsed.more ? "+" : ""}` : t.common.none}
                note={tiles.lapsedHelp}
                tone={lapsed?.records ? "warn" : ""}
                to={link("lapsed")}
            />
            <StoreTile of={props.of.store} />
        </div>
    );
}

function Charts(props: { live: Live }) {
    const { series } = props.live;
    const at = series["at"] ?? [];
    // No command in that time: no latency, which is not the same as none at all.
    const ms = (name: string) => (series[name] ?? []).map((us) => (us === 0 ? NaN : us / 1_000));
    return (
        <div class="charts">
            <Chart
                title={words.outcomes}
                unit={words.perSecond}
                at={at}
                stack
                show={rate}
                curves={[
                    { name: words.executed, colour: "c-executed", values: rates(series, ["executed"]) },
                    { name: words.replayed, colour: "c-replayed", values: rates(series, ["replayed"]) },
                    { name: words.refused, colour: "c-refused", values: rates(series, refusals), help: words.refusedHelp },
                    { name: words.unavailable, colour: "c-unavailable", values: rates(series, ["unavailable"]) },
                ]}
            />
            <Chart
                title={words.latency}
                unit={words.milliseconds}
                at={at}
                show={rate}
                curves={[
                    { name: words.beginP50, colour: "c-p50", values: ms("begin_p50_us") },
                    { name: words.beginP99, colour: "c-p99", values: ms("begin_p99_us") },
                    { name: words.endP99, colour: "c-end", values: ms("end_p99_us") },
                ]}
            />
            <Chart
                title={words.load}
                unit=""
                at={at}
                whole
                show={count}
                curves={[
                    { name: words.running, colour: "c-running", values: series["running"] ?? [] },
                    { name: words.waiting, colour: "c-waiting", values: series["waiting"] ?? [] },
                ]}
            />
        </div>
    );
}

function Commands(props: { of: Overview }) {
    if (props.of.latencies.length === 0) return <Empty title={words.noCommands} />;
    return (
        <table class="plain">
            <thead>
                <tr>
                    <th>{words.command}</th>
                    <th class="number">{words.calls}</th>
                    <th class="number">{words.failures}</th>
                    <th class="number">p50</th>
                    <th class="number">p95</th>
                    <th class="number">p99</th>
                </tr>
            </thead>
            <tbody>
                {props.of.latencies.map((one) => (
                    <tr key={one.command}>
                        <th scope="row">{one.command}</th>
                        <td class="number">{count(one.calls)}</td>
                        <td class={one.failures ? "number bad" : "number"}>{count(one.failures)}</td>
                        <td class="number">{latency(one.p50_us)}</td>
                        <td class="number">{latency(one.p95_us)}</td>
                        <td class="number">{latency(one.p99_us)}</td>
                    </tr>
                ))}
            </tbody>
        </table>
    );
}

function Totals(props: { of: Record<string, number> }) {
    const shown = Object.entries(words.totalNames).filter(([name]) => name in props.of);
    return (
        <dl class="totals">
            {shown.map(([name, label]) => {
                const number = props.of[name] ?? 0;
                return (
                    <div key={name} class={number === 0 ? "zero" : ""}>
                        <dt>{label}</dt>
                        <dd>{name === "cache_bytes" ? size(number) : count(number)}</dd>
                    </div>
                );
            })}
        </dl>
    );
}

export function OverviewPage(props: { live: Live }) {
    const { live } = props;
    const now = live.overview;
    if (!now) return live.problem ? <Trouble problem={live.problem} retry={live.refresh} /> : <Loading />;
    const uptime = Date.parse(now.now) - Date.parse(now.started_at);
    const quiet = recent(live.series, all, now.samples_max) === 0;
    return (
        <Page
            title={words.title}
            aside={
                <>
                    <span class={live.paused ? "live paused" : live.problem ? "live lost" : "live"} role="status">
                        {live.paused ? words.paused : words.live}
                    </span>
                    <span class="muted">{words.since(duration(uptime))}</span>
                    <button type="button" class="small" onClick={live.toggle}>
                        {live.paused ? words.resume : words.pause}
                    </button>
                </>
            }
        >
            {live.problem && <Trouble problem={live.problem} retry={live.refresh} />}
            <Tiles live={live} of={now} />
            {quiet && <p class="note">{words.empty}</p>}
            <Charts live={live} />
            <Card title={words.commands}>
                <Commands of={now} />
            </Card>
            {now.totals && (
                <Card title={words.totals}>
                    <Totals of={now.totals} />
                </Card>
            )}
        </Page>
    );
}
