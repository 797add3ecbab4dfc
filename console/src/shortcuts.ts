// What a key means where no field has the focus. Pure, except `listen`.

export type Action = { go: string } | "first" | "next" | "previous" | "refresh" | "theme" | "help";

const places: Record<string, string> = {
    o: "overview",
    r: "records",
    l: "lapsed",
    m: "mismatches",
    x: "outbox",
    c: "configuration",
};
const single: Record<string, Action> = {
    "/": "first",
    j: "next",
    k: "previous",
    r: "refresh",
    t: "theme",
    "?": "help",
};

export interface Pressed {
    key: string;
    after: string; // the key before it, if that was a moment ago
}

export function actionOf(pressed: Pressed): Action | null {
    if (pressed.after === "g") {
        const place = places[pressed.key];
        return place ? { go: place } : null;
    }
    return single[pressed.key] ?? null;
}

const pause_ms = 1_000;

export function listen(act: (what: Action) => void): () => void {
    let last = { key: "", at: 0 };
    const hear = (event: KeyboardEvent) => {
        const target = event.target as HTMLElement;
        const typing = target.closest("input:not([type=checkbox]):not([type=radio]), textarea, select, dialog");
        if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
        const after = Date.now() - last.at < pause_ms ? last.key : "";
        last = { key: event.key, at: Date.now() };
        const what = actionOf({ key: event.key, after });
        if (!what) return;
        event.preventDefault();
        act(what);
    };
    document.addEventListener("keydown", hear);
    return () => document.removeEventListener("keydown", hear);
}

// To the link of the next or previous row.
export function moveRow(by: number) {
    const links = [...document.querySelectorAll<HTMLElement>("table.rows tbody td.key a")];
    const at = links.indexOf(document.activeElement as HTMLElement);
    links[at < 0 ? (by > 0 ? 0 : links.length - 1) : Math.max(0, Math.min(links.length - 1, at + by))]?.focus();
}

export function focusFirst() {
    const field = document.querySelector<HTMLInputElement>("[data-first]");
    field?.focus();
    field?.select?.();
}
