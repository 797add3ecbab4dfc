// A short line about what was done: said once, also to those who listen, and gone after a while.
import { useEffect, useState } from "preact/hooks";

let show: (text: string) => void = () => undefined;

export function notice(text: string) {
    show(text);
}

const stays_ms = 6_000;

export function Notices() {
    const [text, setText] = useState("");
    useEffect(() => {
        show = setText;
    }, []);
    useEffect(() => {
        if (!text) return undefined;
        const timer = setTimeout(() => setText(""), stays_ms);
        return () => clearTimeout(timer);
    }, [text]);
    return (
        <div class="notices" role="status" aria-live="polite">
            {text && <p>{text}</p>}
        </div>
    );
}
