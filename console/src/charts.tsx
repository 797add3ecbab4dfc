// Curves over time. The legend says what the last sample, or the one under the pointer, was.
import { useEffect, useRef, useState } from "preact/hooks";
import { clock, time } from "./format";
import { band, line, nearest, scale, stacked } from "./series";

export interface Curve {
    name: string;
    help?: string;
    colour: string; // a class
    values: number[];
}

function useWidth() {
    const element = useRef<HTMLDivElement>(null);
    const [width, setWidth] = useState(600);
    useEffect(() => {
        const it = element.current;
        if (!it) return undefined;
        const measure = () => setWidth(Math.max(120, Math.floor(it.clientWidth)));
        const watch = new ResizeObserver(measure);
        watch.observe(it);
        measure();
        return () => watch.disconnect();
    }, []);
    return { element, width };
}

const left = 44;
const bottom = 20;
const above = 8;

export function Chart(props: {
    title: string;
    unit: string;
    at: number[];
    curves: Curve[];
    stack?: boolean;
    whole?: boolean; // numbers of things
    show: (value: number) => string;
}) {
    const { element, width } = useWidth();
    const [picked, setPicked] = useState(-1);
    const count = props.at.length;
    const index = picked >= 0 && picked < count ? picked : count - 1;
    const shapes = props.stack ? stacked(props.curves.map((one) => one.values)) : props.curves.map((one) => one.values);
    const { top, ticks } = scale(Math.max(0, ...shapes.flat().filter((value) => !Number.isNaN(value))), props.whole);
    const box = { width: width - left, height: 150, top };
    const y = (value: number) => box.height - (value / top) * box.height;
    const x = count < 2 ? box.width : (index * box.width) / (count - 1);
    const first = props.at[0];
    const last = props.at[count - 1];
    const spoken = props.curves.map((one) => `${one.name} ${props.show(one.values[count - 1] ?? 0)}`).join(", ");

    const pick = (event: PointerEvent) => {
        const place = (event.currentTarget as Element).getBoundingClientRect();
        setPicked(nearest(event.clientX - place.left - left, box.width, count));
    };
    const step = (event: KeyboardEvent) => {
        const by = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
        if (!by) return;
        event.preventDefault();
        setPicked(Math.max(0, Math.min(count - 1, index + by)));
    };

    return (
        <figure class="chart">
            <figcaption>
                <span class="chart-title">
                    {props.title} <small>{props.unit}</small>
                </span>
                <ul class="legend">
                    {props.curves.map((one) => (
                        <li key={one.name} title={one.help}>
                            <span class={`swatch ${one.colour}`} aria-hidden="true" />
                            {one.name} <b>{props.show(one.values[index] ?? 0)}</b>
                        </li>
                    ))}
                </ul>
            </figcaption>
            <div ref={element} class="chart-area">
                <svg
                    role="img"
                    tabIndex={0}
                    aria-label={`${props.title}, ${props.unit}: ${spoken}`}
                    width={width}
                    height={box.height + above + bottom}
                    onPointerMove={pick}
                    onPointerLeave={() => setPicked(-1)}
                    onKeyDown={step}
                    onBlur={() => setPicked(-1)}
                >
                    <g transform={`translate(${left} ${above})`}>
                        {ticks.map((value) => (
                            <g key={value}>
                                <line class="grid" x1={0} x2={box.width} y1={y(value)} y2={y(value)} />
                                <text class="tick" x={-8} y={y(value) + 4} text-anchor="end">
                                    {props.show(value)}
                                </text>
                            </g>
                        ))}
                        {props.stack
                            ? shapes.map((upper, at) => (
                                  <path
                                      key={at}
                                      class={`band ${props.curves[at]?.colour}`}
                                      d={band(shapes[at - 1] ?? upper.map(() => 0), upper, box)}
                                  />
                              ))
                            : shapes.map((values, at) => (
                                  <path key={at} class={`curve ${props.curves[at]?.colour}`} d={line(values, box)} />
                              ))}
                        {picked >= 0 && count > 0 && <line class="cursor" x1={x} x2={x} y1={0} y2={box.height} />}
                        {first !== undefined && (
                            <text class="tick" x={0} y={box.height + 16}>
                                {time(first)}
                            </text>
                        )}
                        {last !== undefined && (
                            <text class="tick" x={box.width} y={box.height + 16} text-anchor="end">
                                {time(props.at[index] ?? last)}
                            </text>
                        )}
                    </g>
                </svg>
            </div>
            {picked >= 0 && <p class="visually-hidden" role="status">{clock(props.at[index] ?? 0)}</p>}
        </figure>
    );
}

// A hint of where a number comes from; what it says stands beside it.
export function Spark(props: { values: number[]; colour: string }) {
    const box = { width: 96, height: 26, top: Math.max(1e-9, ...props.values) };
    if (props.values.length < 2) return <svg class="spark" width={box.width} height={box.height} aria-hidden="true" />;
    return (
        <svg class="spark" width={box.width} height={box.height + 2} aria-hidden="true">
            <g transform="translate(0 1)">
                <path class={`band faint ${props.colour}`} d={band(props.values.map(() => 0), props.values, box)} />
                <path class={`curve ${props.colour}`} d={line(props.values, box)} />
            </g>
        </svg>
    );
}
