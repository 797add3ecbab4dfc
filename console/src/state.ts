// Small hooks that several pages share.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { Problem } from "./api";

// The time now, which moves on while the page is visible.
export function useNow(every_ms: number): number {
    const [now, setNow] = useState(Date.now());
    useEffect(() => {
        const timer = setInterval(() => setNow(Date.now()), every_ms);
        return () => clearInterval(timer);
    }, [every_ms]);
    return now;
}

export interface Loaded<T> {
    value: T | null;
    problem: Problem | null;
    busy: boolean;
    reload: () => void;
}

// Asks once for each key, and again when told or, if `every_ms` is given, while the page is seen.
// What was there stays until something else has come.
export function useLoaded<T>(ask: () => Promise<T>, key: string, every_ms = 0): Loaded<T> {
    const [state, setState] = useState<{ key: string; value: T | null; problem: Problem | null }>({
        key,
        value: null,
        problem: null,
    });
    const [busy, setBusy] = useState(true);
    const [turn, setTurn] = useState(0);
    const latest = useRef(0);
    const asked = useRef(ask);
    asked.current = ask;

    useEffect(() => {
        const mine = ++latest.current;
        setBusy(true);
        asked.current().then(
            (value) => {
                if (mine !== latest.current) return;
                setState({ key, value, problem: null });
                setBusy(false);
            },
            (why: unknown) => {
                if (mine !== latest.current) return;
                const problem = why instanceof Problem ? why : new Problem(0, "internal", String(why));
                setState((before) => ({ key, value: before.key === key ? before.value : null, problem }));
                setBusy(false);
            },
        );
    }, [key, turn]);

    const reload = useCallback(() => setTurn((before) => before + 1), []);
    useEffect(() => {
        if (!every_ms) return undefined;
        const timer = setInterval(() => document.visibilityState === "visible" && reload(), every_ms);
        return () => clearInterval(timer);
    }, [every_ms, reload]);

    const current = state.key === key;
    return {
        value: current ? state.value : null,
        problem: current ? state.problem : null,
        busy,
        reload,
    };
}

export type Theme = "auto" | "light" | "dark";
const themes: Theme[] = ["auto", "light", "dark"];

function savedTheme(): Theme {
    try {
        const kept = localStorage.getItem("semel-theme") as Theme;
        return themes.includes(kept) ? kept : "auto";
    } catch {
        return "auto";
    }
}

export function useTheme(): [Theme, () => void] {
    const [theme, setTheme] = useState<Theme>(savedTheme);
    useEffect(() => {
        document.documentElement.dataset["theme"] = theme;
        try {
            localStorage.setItem("semel-theme", theme);
        } catch {
            // A browser that keeps nothing shows the theme all the same.
        }
    }, [theme]);
    const next = useCallback(
        () => setTheme((now) => themes[(themes.indexOf(now) + 1) % themes.length] ?? "auto"),
        [],
    );
    return [theme, next];
}

// Called on `r` only: a page says what refreshing means on it.
export function useRefreshKey(refresh: () => void) {
    const latest = useRef(refresh);
    latest.current = refresh;
    useEffect(() => {
        const hear = () => latest.current();
        document.addEventListener("semel-refresh", hear);
        return () => document.removeEventListener("semel-refresh", hear);
    }, []);
}
