// Numbers, times and bytes as people read them. Pure.
import { t } from "./texts";

const units: [number, string][] = [
    [86_400_000, "d"],
    [3_600_000, "h"],
    [60_000, "m"],
    [1_000, "s"],
];

// Two units at most: "2 d 4 h", "3 m 20 s", "12 s", "40 ms".
export function duration(ms: number): string {
    if (!Number.isFinite(ms)) return t.common.none;
    let left = Math.max(0, Math.round(ms));
    if (left < 1_000) return `${left} ms`;
    const parts: string[] = [];
    for (const [size, name] of units) {
        const count = Math.floor(left / size);
        left -= count * size;
        if (count > 0) parts.push(`${count} ${name}`);
        if (parts.length === 2 || (parts.length === 1 && count === 0)) break;
    }
    return parts.join(" ");
}

// "5 m 3 s ago", "in 20 s"; what is under a second away is now.
export function relative(when: string, now: string | number): string {
    const from = typeof now === "number" ? now : Date.parse(now);
    const away = from - Date.parse(when);
    if (Math.abs(away) < 1_000) return t.common.now;
    return away > 0 ? t.common.ago(duration(away)) : t.common.inFuture(duration(-away));
}

const two = (number: number) => String(number).padStart(2, "0");

// In the reader's own time zone: "2026-11-16 06:48:02.123".
export function clock(when: string | number): string {
    const at = new Date(when);
    if (Number.isNaN(at.getTime())) return t.common.none;
    const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
    return `${day} ${time(at.getTime())}.${String(at.getMilliseconds()).padStart(3, "0")}`;
}

export function time(when: number): string {
    const at = new Date(when);
    return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

export function count(number: number): string {
    return Math.round(number).toLocaleString("en");
}

// Three digits that matter: 0.04, 3.1, 27, 1,480.
export function rate(number: number): string {
    if (Number.isNaN(number)) return t.common.none;
    if (number === 0) return "0";
    if (number < 0.1) return number.toFixed(2);
    if (number < 10) return number.toFixed(1).replace(/\.0$/, "");
    return count(number);
}

export function percent(share: number): string {
    if (!Number.isFinite(share)) return t.common.none;
    const number = share * 100;
    return `${number >= 99.95 || number === 0 ? number.toFixed(0) : number.toFixed(1)} %`;
}

// From microseconds: "0.13 ms", "4.2 ms", "1.6 s".
export function latency(us: number): string {
    if (us === 0) return t.common.none;
    const ms = us / 1_000;
    if (ms < 1) return `${ms.toFixed(2)} ms`;
    if (ms < 10) return `${ms.toFixed(1)} ms`;
    if (ms < 1_000) return `${ms.toFixed(0)} ms`;
    return `${(ms / 1_000).toFixed(1)} s`;
}

export function size(bytes: number): string {
    if (bytes < 1_024) return `${bytes} B`;
    if (bytes < 1_048_576) return `${(bytes / 1_024).toFixed(1)} KiB`;
    return `${(bytes / 1_048_576).toFixed(1)} MiB`;
}

// In groups of eight: two of these can be compared by eye.
export function groups(hex: string): string[] {
    return hex.match(/.{1,8}/g) ?? [];
}

// What a duration is written as where it is asked for: the same as in the configuration.
export function isDuration(text: string): boolean {
    return /^(\d+(us|ms|s|m|h|d))+$/.test(text.trim());
}
