// JSON laid out for reading, without touching a digit: numbers and names stay as they are written,
// so a big integer is not rounded and a duplicate name is not lost. Pure.

const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

export function isJson(text: string): boolean {
    const first = text.trimStart()[0];
    if (first !== "{" && first !== "[") return false;
    try {
        JSON.parse(text);
        return true;
    } catch {
        return false;
    }
}

// The text itself where it is not JSON.
export function pretty(text: string): string {
    if (!isJson(text)) return text;
    const tokens = text.match(token) ?? [];
    let made = "";
    let depth = 0;
    const line = () => "\n" + "  ".repeat(depth);
    tokens.forEach((one, at) => {
        const next = tokens[at + 1];
        if (one === "{" || one === "[") {
            const empty = next === "}" || next === "]";
            depth += 1;
            made += empty ? one : one + line();
        } else if (one === "}" || one === "]") {
            const before = tokens[at - 1];
            depth -= 1;
            made += before === "{" || before === "[" ? one : line() + one;
        } else if (one === ",") {
            made += "," + line();
        } else {
            made += one === ":" ? ": " : one;
        }
    });
    return made;
}

export interface Piece {
    kind: "name" | "text" | "number" | "word" | "sign";
    text: string;
}

// The same in pieces that can be told apart by colour.
export function pieces(text: string): Piece[] {
    const found: Piece[] = [];
    const scan = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[^"\d]/g;
    for (const match of text.matchAll(scan)) {
        const one = match[0];
        const last = found[found.length - 1];
        const kind = kindOf(one, text.slice(match.index + one.length, match.index + one.length + 2));
        if (kind === "sign" && last?.kind === "sign") last.text += one;
        else found.push({ kind, text: one });
    }
    return found;
}

function kindOf(one: string, next: string): Piece["kind"] {
    if (one[0] === '"') return next.startsWith(":") ? "name" : "text";
    if (/^-?\d/.test(one)) return "number";
    return /^(true|false|null)$/.test(one) ? "word" : "sign";
}
