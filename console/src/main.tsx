import { render } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { api, whenSessionEnds, type Session } from "./api";
import { useLive, type Live } from "./live";
import { Notices } from "./notice";
import { Dialog, Loading } from "./parts";
import { ConfigurationPage } from "./pages/configuration";
import { MismatchesPage } from "./pages/mismatches";
import { OutboxPage } from "./pages/outbox";
import { OverviewPage } from "./pages/overview";
import { RecordPage } from "./pages/record";
import { RecordsPage } from "./pages/records";
import { SignIn } from "./pages/sign_in";
import { LapsedPage } from "./pages/lapsed";
import { link, parse, type Route } from "./route";
import { focusFirst, listen, moveRow, type Action } from "./shortcuts";
import { useTheme, type Theme } from "./state";
import { t } from "./texts";

const places = ["overview", "records", "lapsed", "mismatches", "outbox", "configuration"] as const;
type Place = (typeof places)[number];

// What the server refuses to a session is not offered to it.
function seenBy(session: Session): Place[] {
    const own: Place[] = ["records", "lapsed", "mismatches"];
    if (session.role === "read") return own;
    return places.filter((one) => one !== "configuration" || session.role === "admin");
}

function pageFor(session: Session, page: string): string {
    const seen = seenBy(session);
    return page === "record" || seen.includes(page as Place) ? page : (seen[0] as string);
}

function useRoute(): Route {
    const [route, setRoute] = useState(() => parse(location.hash));
    useEffect(() => {
        const hear = () => setRoute(parse(location.hash));
        addEventListener("hashchange", hear);
        return () => removeEventListener("hashchange", hear);
    }, []);
    return route;
}

function Content(props: { route: Route; session: Session; live: Live }) {
    const { route, session } = props;
    switch (pageFor(session, route.page)) {
        case "records":
            return <RecordsPage query={route.query} session={session} />;
        case "record":
            return <RecordPage key={route.query} query={route.query} session={session} />;
        case "lapsed":
            return <LapsedPage query={route.query} session={session} />;
        case "mismatches":
            return <MismatchesPage />;
        case "outbox":
            return <OutboxPage query={route.query} session={session} />;
        case "configuration":
            return <ConfigurationPage />;
        default:
            return <OverviewPage live={props.live} />;
    }
}

function Nav(props: { route: Route; live: Live; open: boolean; session: Session }) {
    const page = pageFor(props.session, props.route.page);
    const here = page === "record" ? "records" : page;
    const lapsed = props.live.overview?.lapsed?.records ?? 0;
    return (
        <nav id="nav" class={props.open ? "open" : ""} aria-label={t.nav.label}>
            {seenBy(props.session).map((one) => (
                <a key={one} href={link(one)} aria-current={one === here ? "page" : undefined}>
                    <span>{t.nav[one]}</span>
                    {one === "lapsed" && lapsed > 0 && <b class="count">{lapsed}</b>}
                </a>
            ))}
        </nav>
    );
}

function Tools(props: { session: Session; theme: Theme; nextTheme: () => void; help: () => void; out: () => void }) {
    const { session } = props;
    return (
        <div class="tools">
            <p class="who" title={t.session.as(session.tenant)}>
                <span>{session.tenant}</span>
                <span class={`role is-${session.role}`}>{t.session.roles[session.role]}</span>
            </p>
            <button type="button" class="quiet small" onClick={props.nextTheme} aria-label={`${t.theme.label}: ${t.theme[props.theme]}`}>
                {t.theme[props.theme]}
            </button>
            <button type="button" class="quiet small" onClick={props.help} aria-label={t.help.open}>
                ?
            </button>
            <button type="button" class="quiet small" onClick={props.out}>
                {t.session.out}
            </button>
        </div>
    );
}

function Help(props: { open: boolean; close: () => void }) {
    return (
        <Dialog title={t.help.title} open={props.open} onClose={props.close}>
            <dl class="keys">
                {t.help.keys.map(([keys, what]) => (
                    <div key={keys}>
                        <dt>
                            {keys.split(" ").map((one) => (
                                <kbd key={one}>{one}</kbd>
                            ))}
                        </dt>
                        <dd>{what}</dd>
                    </div>
                ))}
            </dl>
        </Dialog>
    );
}

function Shell(props: { session: Session; out: () => void }) {
    const route = useRoute();
    const live = useLive(props.session.role !== "read", route.page === "overview");
    const [theme, nextTheme] = useTheme();
    const [help, setHelp] = useState(false);
    const [menu, setMenu] = useState(false);
    const content = useRef<HTMLElement>(null);
    const seen = useRef(route.page);

    const act = (what: Action) => {
        if (typeof what === "object") location.hash = link(pageFor(props.session, what.go));
        else if (what === "first") focusFirst();
        else if (what === "next") moveRow(1);
        else if (what === "previous") moveRow(-1);
        else if (what === "theme") nextTheme();
        else if (what === "help") setHelp(true);
        else document.dispatchEvent(new Event("semel-refresh"));
    };
    const latest = useRef(act);
    latest.current = act;
    // Before the page is painted: who types at once is heard, and keeps the focus he went to.
    useLayoutEffect(() => listen((what) => latest.current(what)), []);
    useLayoutEffect(() => {
        const name = route.page === "record" ? t.records.title : t.nav[pageFor(props.session, route.page) as Place];
        document.title = `${name} · ${t.product}`;
        setMenu(false);
        // Who came by keyboard goes on in the new page; who only changed a filter stays in it.
        if (seen.current !== route.page) content.current?.focus();
        seen.current = route.page;
    }, [route]);

    return (
        <>
            <a class="skip" href="#content" onClick={(event) => (event.preventDefault(), content.current?.focus())}>
                {t.nav.skip}
            </a>
            <header class="bar">
                <a class="brand" href={link(pageFor(props.session, "overview"))}>
                    <span class="mark" aria-hidden="true" />
                    {t.product}
                </a>
                <button
                    type="button"
                    class="menu small"
                    aria-expanded={menu}
                    aria-controls="nav"
                    onClick={() => setMenu(!menu)}
                >
                    {t.nav.menu}
                </button>
                <Nav route={route} live={live} open={menu} session={props.session} />
                <Tools session={props.session} theme={theme} nextTheme={nextTheme} help={() => setHelp(true)} out={props.out} />
            </header>
            <main id="content" ref={content} tabIndex={-1}>
                <Content route={route} session={props.session} live={live} />
            </main>
            <Notices />
            <Help open={help} close={() => setHelp(false)} />
        </>
    );
}

function App() {
    const [session, setSession] = useState<Session | null | undefined>(undefined);
    const [ended, setEnded] = useState(false);
    useTheme();
    useEffect(() => {
        whenSessionEnds(() => {
            setEnded(true);
            setSession(null);
        });
        api.session().then(setSession, () => setSession(null));
    }, []);
    const out = () => {
        void api.signOut().finally(() => {
            setEnded(false);
            setSession(null);
        });
    };
    if (session === undefined) return <Loading />;
    if (session === null) return <SignIn ended={ended} signedIn={setSession} />;
    return <Shell session={session} out={out} />;
}

document.documentElement.lang = t.language;
render(<App />, document.getElementById("app") as HTMLElement);
