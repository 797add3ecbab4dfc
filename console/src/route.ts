// Where the reader is: the part of the address behind #. Pure.

export interface Route {
    page: string;
    query: string; // as it stands there: a record's bytes are escaped in it
}

export const pages = ["overview", "records", "record", "lapsed", "mismatches", "outbox", "configuration"];

export function parse(hash: string): Route {
    const text = hash.replace(/^#\/?/, "");
    const mark = text.indexOf("?");
    const page = mark < 0 ? text : text.slice(0, mark);
    const query = mark < 0 ? "" : text.slice(mark + 1);
    return pages.includes(page) ? { page, query } : { page: "overview", query: "" };
}

export function link(page: string, query: Record<string, string | undefined> | string = ""): string {
    if (typeof query === "string") return `#/${page}${query ? "?" + query : ""}`;
    const given = Object.entries(query).filter((one): one is [string, string] => !!one[1]);
    return link(page, new URLSearchParams(given).toString());
}

export const fields = (query: string): Record<string, string> => Object.fromEntries(new URLSearchParams(query));
