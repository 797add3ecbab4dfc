// The overview as it goes on: asked every sample on its own page, now and then on others.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { api, Problem, type Overview, type Series } from "./api";
import { lastNumber, merge } from "./series";

export interface Live {
    overview: Overview | null;
    series: Series;
    problem: Problem | null;
    paused: boolean;
    toggle: () => void;
    refresh: () => void;
}

const elsewhere_ms = 10_000;

export function useLive(on: boolean, watched: boolean): Live {
    const [overview, setOverview] = useState<Overview | null>(null);
    const [problem, setProblem] = useState<Problem | null>(null);
    const [paused, setPaused] = useState(false);
    const series = useRef<Series>({});

    const refresh = useCallback(() => {
        api.overview(lastNumber(series.current)).then(
            (came) => {
                series.current = merge(series.current, came.series, came.samples_max);
                setOverview(came);
                setProblem(null);
            },
            (why: unknown) => setProblem(why instanceof Problem ? why : new Problem(0, "internal", String(why))),
        );
    }, []);

    const every = watched ? (overview?.every_ms ?? 2_000) : elsewhere_ms;
    useEffect(() => {
        if (!on || paused) return undefined;
        refresh();
        const timer = setInterval(() => document.visibilityState === "visible" && refresh(), every);
        return () => clearInterval(timer);
    }, [on, paused, every, refresh]);

    return {
        overview,
        series: series.current,
        problem,
        paused,
        toggle: () => setPaused((now) => !now),
        refresh,
    };
}
