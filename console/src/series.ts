// Samples put together over time, and the shapes that charts are drawn from. Pure.
import type { Series } from "./api";

// What is kept, with what has come; at most `most` samples. A server that started again begins at
// number 1: then what was kept is of another process.
export function merge(kept: Series, came: Series, most: number): Series {
    const numbers = came["number"] ?? [];
    const last = (kept["number"] ?? []).at(-1) ?? 0;
    const fresh = numbers.findIndex((one) => one > last);
    const restarted = numbers.length > 0 && (numbers.at(-1) ?? 0) < last;
    const made: Series = {};
    for (const name of Object.keys(came)) {
        const before = restarted ? [] : (kept[name] ?? []);
        const after = (came[name] ?? []).slice(restarted ? 0 : fresh < 0 ? numbers.length : fresh);
        made[name] = [...before, ...after].slice(-most);
    }
    return made;
}

export const lastNumber = (of: Series) => (of["number"] ?? []).at(-1) ?? 0;

// Per second, sample by sample, of the sum of these.
export function rates(of: Series, names: string[]): number[] {
    return (of["span_ms"] ?? []).map((span, at) => {
        const sum = names.reduce((all, name) => all + (of[name]?.[at] ?? 0), 0);
        return span > 0 ? (sum * 1_000) / span : 0;
    });
}

export const sum = (values: number[]) => values.reduce((all, one) => all + one, 0);

// Of the last `count` samples.
export function recent(of: Series, names: string[], count: number): number {
    return sum(names.map((name) => sum((of[name] ?? []).slice(-count))));
}

// A round number not below the highest value, and the lines up to it.
// What is counted has no halves.
export function scale(highest: number, whole = false): { top: number; ticks: number[] } {
    if (!(highest > 0) || (whole && highest < 2)) return { top: 2, ticks: [0, 1, 2] };
    const power = 10 ** Math.floor(Math.log10(highest));
    const top = ([1, 2, 4, 6, 8, 10].find((one) => one * power >= highest) ?? 10) * power;
    return { top, ticks: [0, Number((top / 2).toPrecision(6)), Number(top.toPrecision(6))] };
}

export interface Box {
    width: number;
    height: number;
    top: number; // the value at the upper edge
}

const at = (index: number, count: number, width: number) => (count < 2 ? width : (index * width) / (count - 1));
const fixed = (number: number) => Number(number.toFixed(1));

// Where there is no value (NaN) the curve has a gap; a value by itself is a dot.
export function line(values: number[], box: Box): string {
    return values
        .map((value, index) => {
            if (Number.isNaN(value)) return "";
            const x = fixed(at(index, values.length, box.width));
            const y = fixed(box.height - (Math.min(value, box.top) / box.top) * box.height);
            const before = values[index - 1];
            const goes_on = before !== undefined && !Number.isNaN(before);
            return goes_on ? `L${x} ${y}` : `M${x} ${y}h0`;
        })
        .join("");
}

// The area between two curves of the same length.
export function band(lower: number[], upper: number[], box: Box): string {
    if (upper.length === 0) return "";
    const back = [...lower].map((value, index) => {
        const x = fixed(at(index, lower.length, box.width));
        return `L${x} ${fixed(box.height - (Math.min(value, box.top) / box.top) * box.height)}`;
    });
    return line(upper, box).replace("h0", "") + back.reverse().join("") + "Z";
}

// Each curve on the shoulders of those before it.
export function stacked(curves: number[][]): number[][] {
    const made: number[][] = [];
    for (const curve of curves) {
        const below = made.at(-1);
        made.push(curve.map((value, index) => value + (below?.[index] ?? 0)));
    }
    return made;
}

// Which sample is under this place.
export function nearest(x: number, width: number, count: number): number {
    if (count === 0 || width <= 0) return -1;
    return Math.max(0, Math.min(count - 1, Math.round((x / width) * (count - 1))));
}
