// The shown configuration taken apart: sections and their keys, in their order. Pure. It reads what
// the server writes, one key a line, and is no TOML reader for anything else.

export interface Section {
    title: string;
    keys: [string, string][];
}

export function sectionsOf(toml: string): Section[] {
    const found: Section[] = [];
    for (const line of toml.split("\n")) {
        const title = /^\[\[?([^\]]+)\]\]?$/.exec(line)?.[1];
        if (title) {
            found.push({ title, keys: [] });
            continue;
        }
        const mark = line.indexOf(" = ");
        if (mark > 0) found.at(-1)?.keys.push([line.slice(0, mark), line.slice(mark + 3)]);
    }
    // Routes and operations are many: each is called by its own name.
    return found.map((one) => {
        const own = one.keys.find(([name]) => name === "operation" || name === "name");
        const many = one.title === "route" || one.title === "operation";
        return many && own ? { ...one, title: `${one.title} ${own[1].replace(/^"|"$/g, "")}` } : one;
    });
}
