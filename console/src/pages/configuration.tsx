import { useState } from "preact/hooks";
import { api } from "../api";
import { Card, Empty, Field, Loading, Page, Trouble } from "../parts";
import { sectionsOf } from "../toml";
import { useLoaded, useRefreshKey } from "../state";
import { t } from "../texts";

const words = t.configuration;

export function ConfigurationPage() {
    const { value, problem, reload } = useLoaded(api.configuration, "configuration");
    const [filter, setFilter] = useState("");
    useRefreshKey(reload);
    const wanted = filter.trim().toLowerCase();
    const fits = (section: string, text: string) => `${section}.${text}`.toLowerCase().includes(wanted);
    const sections = sectionsOf(value?.toml ?? "")
        .map((one) => ({ ...one, keys: one.keys.filter(([name, text]) => fits(one.title, `${name} ${text}`)) }))
        .filter((one) => one.keys.length > 0);
    return (
        <Page title={words.title} lead={words.lead}>
            {problem && <Trouble problem={problem} retry={reload} />}
            {!value && !problem && <Loading />}
            {value && (
                <div class="filters single">
                    <Field label={words.filter}>
                        <input
                            type="search"
                            data-first
                            value={filter}
                            onInput={(event) => setFilter((event.currentTarget as HTMLInputElement).value)}
                            autocomplete="off"
                        />
                    </Field>
                </div>
            )}
            {value && sections.length === 0 && <Empty title={words.nothing} />}
            <div class="sections">
                {sections.map((one, at) => (
                    <Card key={at} title={one.title}>
                        <dl class="settings">
                            {one.keys.map(([name, text]) => (
                                <div key={name}>
                                    <dt>{name}</dt>
                                    <dd>{text}</dd>
                                </div>
                            ))}
                        </dl>
                    </Card>
                ))}
            </div>
        </Page>
    );
}
