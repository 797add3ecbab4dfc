import { useEffect, useRef, useState } from "preact/hooks";
import { api, Problem, type Session } from "../api";
import { Field, Trouble } from "../parts";
import { t } from "../texts";

const words = t.session;

export function SignIn(props: { ended: boolean; signedIn: (session: Session) => void }) {
    const [busy, setBusy] = useState(false);
    const [problem, setProblem] = useState<Problem | null>(null);
    const field = useRef<HTMLInputElement>(null);
    useEffect(() => field.current?.focus(), []);

    const submit = (event: SubmitEvent) => {
        event.preventDefault();
        setBusy(true);
        api.signIn(field.current?.value.trim() ?? "").then(props.signedIn, (why: Problem) => {
            setProblem(why);
            setBusy(false);
            field.current?.select();
        });
    };
    return (
        <main class="sign-in" id="content">
            <div class="sign-in-box">
                <p class="brand">
                    <span class="mark" aria-hidden="true" />
                    {t.product}
                </p>
                <h1>{words.title}</h1>
                <p class="muted">{words.lead}</p>
                {props.ended && !problem && <p class="note">{words.ended}</p>}
                {problem && <Trouble problem={problem} />}
                <form onSubmit={submit}>
                    <Field label={words.token} hint={words.hint} wide>
                        <input ref={field} name="token" type="password" required autocomplete="off" spellcheck={false} />
                    </Field>
                    <button type="submit" class="primary" disabled={busy}>
                        {busy ? words.busy : words.submit}
                    </button>
                </form>
                <p class="muted">{words.how}</p>
                <pre class="text wrap">{words.command}</pre>
            </div>
        </main>
    );
}
