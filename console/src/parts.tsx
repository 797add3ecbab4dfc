// What pages are put together from.
import { cloneElement, type ComponentChildren, type VNode } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Bytes, Problem } from "./api";
import { clock, relative, size } from "./format";
import { pieces, pretty, isJson } from "./json_text";
import { t } from "./texts";

export function Badge(props: { of: string }) {
    return (
        <span class={`badge is-${props.of}`} title={t.stateHelp[props.of]}>
            {t.states[props.of] ?? props.of}
        </span>
    );
}

export function When(props: { at: string; now: string | number }) {
    return (
        <time dateTime={props.at} title={clock(props.at)}>
            {relative(props.at, props.now)}
        </time>
    );
}

export function Copy(props: { text: string; what: string }) {
    const [done, setDone] = useState(false);
    const copy = () => {
        void navigator.clipboard?.writeText(props.text).then(() => {
            setDone(true);
            setTimeout(() => setDone(false), 1_500);
        });
    };
    return (
        <button type="button" class="quiet small" onClick={copy} aria-label={t.common.copyOf(props.what)}>
            {done ? t.common.copied : t.common.copy}
        </button>
    );
}

export function Empty(props: { title: string; help?: string; children?: ComponentChildren }) {
    return (
        <div class="empty">
            <p class="empty-title">{props.title}</p>
            {props.help && <p>{props.help}</p>}
            {props.children}
        </div>
    );
}

export function explain(problem: Problem): string {
    if (problem.status === 0) return t.errors.offline;
    if (problem.slug === "unavailable") return t.errors.unavailable;
    if (problem.slug === "unconfirmed") return t.errors.unconfirmed;
    if (problem.slug === "result-unreadable") return t.errors.unreadable;
    if (problem.status === 403) return `${t.errors.forbidden} ${problem.message}`;
    return problem.message || t.errors.title;
}

export function Trouble(props: { problem: Problem; retry?: () => void }) {
    return (
        <div class="trouble" role="alert">
            <strong>{t.errors.title}</strong>
            <span>{explain(props.problem)}</span>
            {props.retry && (
                <button type="button" class="small" onClick={props.retry}>
                    {t.common.retry}
                </button>
            )}
        </div>
    );
}

export function Loading() {
    return (
        <p class="loading" role="status">
            {t.common.loading}
        </p>
    );
}

export function Card(props: { title: string; class?: string; aside?: ComponentChildren; children: ComponentChildren }) {
    return (
        <section class={`card ${props.class ?? ""}`} aria-label={props.title}>
            <header>
                <h2>{props.title}</h2>
                {props.aside}
            </header>
            {props.children}
        </section>
    );
}

export function Page(props: { title: ComponentChildren; aside?: ComponentChildren; lead?: string; children: ComponentChildren }) {
    return (
        <>
            <div class="page-head">
                <h1>{props.title}</h1>
                {props.aside && <div class="page-aside">{props.aside}</div>}
            </div>
            {props.lead && <p class="lead">{props.lead}</p>}
            {props.children}
        </>
    );
}

// Each coloured token costs an element: long texts, which are not read whole, have none.
const coloured_max = 40_000;

export function Text(props: { text: string }) {
    if (!isJson(props.text) || props.text.length > coloured_max) return <pre class="text">{props.text}</pre>;
    return (
        <pre class="text">
            {pieces(props.text).map((one) => (one.kind === "sign" ? one.text : <span class={`json-${one.kind}`}>{one.text}</span>))}
        </pre>
    );
}

// Bytes of an application: always shown, never interpreted.
export function BytesView(props: { of: Bytes; what: string }) {
    const [raw, setRaw] = useState(false);
    if (props.of.bytes === 0) return <p class="muted">{t.common.nothing}</p>;
    if (props.of.text === undefined) {
        return (
            <>
                <p class="muted">{t.common.binary(size(props.of.bytes))}</p>
                <pre class="text wrap">{props.of.base64}</pre>
            </>
        );
    }
    const text = props.of.text;
    const json = isJson(text);
    return (
        <div class="bytes">
            <div class="bytes-tools">
                {json && (
                    <button type="button" class="quiet small" aria-pressed={raw} onClick={() => setRaw(!raw)}>
                        {raw ? t.common.formatted : t.common.raw}
                    </button>
                )}
                <Copy text={text} what={props.what} />
            </div>
            <Text text={json && !raw ? pretty(text) : text} />
        </div>
    );
}

// A question with two answers; the browser keeps the focus inside.
export function Dialog(props: {
    title: string;
    open: boolean;
    onClose: () => void;
    children: ComponentChildren;
    confirm?: { label: string; danger?: boolean; busy?: boolean; go: () => void };
}) {
    const element = useRef<HTMLDialogElement>(null);
    useEffect(() => {
        const it = element.current;
        if (!it) return;
        if (props.open && !it.open) it.showModal();
        if (!props.open && it.open) it.close();
    }, [props.open]);
    return (
        <dialog ref={element} aria-label={props.title} onClose={props.onClose}>
            <h2>{props.title}</h2>
            <div class="dialog-body">{props.open && props.children}</div>
            <div class="dialog-foot">
                <button type="button" onClick={props.onClose}>
                    {props.confirm ? t.common.cancel : t.common.close}
                </button>
                {props.confirm && (
                    <button
                        type="button"
                        class={props.confirm.danger ? "danger" : "primary"}
                        disabled={props.confirm.busy ?? false}
                        onClick={props.confirm.go}
                    >
                        {props.confirm.label}
                    </button>
                )}
            </div>
        </dialog>
    );
}

// The hint describes the control; its name is the label alone.
export function Field(props: { label: string; hint?: string; wide?: boolean; children: VNode }) {
    const id = useId();
    return (
        <div class={props.wide ? "field wide" : "field"}>
            <label>
                <span>{props.label}</span>
                {props.hint ? cloneElement(props.children, { "aria-describedby": id }) : props.children}
            </label>
            {props.hint && <small id={id}>{props.hint}</small>}
        </div>
    );
}

export function Facts(props: { of: [string, ComponentChildren][] }) {
    return (
        <dl class="facts">
            {props.of.map(([name, value]) => (
                <div key={name}>
                    <dt>{name}</dt>
                    <dd>{value}</dd>
                </div>
            ))}
        </dl>
    );
}
