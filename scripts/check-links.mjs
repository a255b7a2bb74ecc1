// check-links [PATH...]: finds dead links in Markdown files (relative paths and anchors), and mentions of pages of docs/ in other
// text files that name no file. Without paths it checks every file that git tracks or would add. Exit code 1 if there is a finding.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(fileURLToPath(import.meta.url), '../..');

/** Returns a Markdown text with code blocks and code spans blanked, line by line. */
function withoutCode(text) {
  const blank = (code) => code.replace(/[^\n]/g, ' ');
  return text
    .replace(/^ {0,3}(`{3,}|~{3,})[^\n]*\n[\s\S]*?^ {0,3}\1[^\n]*$/gm, blank)
    .replace(/(?<!`)(`+)(?!`)[^\n]*?[^`\n]\1(?!`)/g, blank);
}

/** Returns the anchor of a heading as GitHub makes it: https://github.com/Flet/github-slugger has the rules. */
function anchorOf(heading) {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');
}

/** Returns the anchors of a page: those of its headings, with a number where one repeats, and explicit ids. */
export function anchorsOf(text) {
  const anchors = new Set();
  const fences = text.replace(/^ {0,3}(`{3,}|~{3,})[^\n]*\n[\s\S]*?^ {0,3}\1[^\n]*$/gm, '');
  for (const [, heading] of fences.matchAll(/^#{1,6} +(.+?)(?: +#+)?$/gm)) {
    const base = anchorOf(heading);
    let anchor = base;
    for (let i = 1; anchors.has(anchor); i++) anchor = `${base}-${i}`;
    anchors.add(anchor);
  }
  for (const [, id] of fences.matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(id);
  return anchors;
}

/** Returns the targets of the links of a Markdown text that stay in the repository, each with its line (counted from 1). */
export function linksOf(text) {
  const plain = withoutCode(text);
  const inline = plain.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g);
  const definitions = plain.matchAll(/^ {0,3}\[[^\]]+\]: +<?([^\s>]+)/gm);
  return [...inline, ...definitions]
    .filter(([, target]) => !/^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(target))
    .map((match) => ({ target: match[1], line: plain.slice(0, match.index).split('\n').length }));
}

/** Checks the links of a page. Returns its findings: line and reason. */
export function checkPage(file) {
  return linksOf(readFileSync(file, 'utf8')).flatMap(({ target, line }) => {
    const [path, anchor] = target.split('#');
    const linked = path === '' ? file : join(dirname(file), decodeURIComponent(path));
    if (!existsSync(linked)) return [{ line, reason: `${target}: no such file` }];
    if (anchor === undefined || !linked.endsWith('.md') || statSync(linked).isDirectory()) return [];
    return anchorsOf(readFileSync(linked, 'utf8')).has(anchor) ? [] : [{ line, reason: `${target}: no such heading` }];
  });
}

/** Checks the mentions of pages (`docs/guide/plugins.md`) in a text. Returns its findings: line and reason. */
export function checkMentions(text, base = root) {
  return [...text.matchAll(/(?<![\w./-])docs\/[\w./-]+\.md\b/g)]
    .filter(([path]) => !existsSync(join(base, path)))
    .map((match) => ({ line: text.slice(0, match.index).split('\n').length, reason: `${match[0]}: no such file` }));
}

/** True for files whose mentions of pages are checked. */
const isText = (file) => /\.(?:ts|mjs|json|ya?ml|md|sh)$|^(?:bin|\.ci)\//.test(file) && !/\.gen\.|\.expected\.|check-links/.test(file);

function trackedFiles() {
  const list = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' });
  return list.split('\n').filter((file) => file !== '' && existsSync(join(root, file)));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const paths = process.argv.slice(2).map((path) => relative(root, resolve(path)));
  for (const path of paths.length > 0 ? paths : trackedFiles()) {
    const file = join(root, path);
    const findings = [
      ...(path.endsWith('.md') ? checkPage(file) : []),
      ...(isText(path) && statSync(file).size < 1_000_000 ? checkMentions(readFileSync(file, 'utf8')) : []),
    ];
    for (const { line, reason } of findings) {
      console.error(`${path}:${line}: dead link: ${reason}`);
      process.exitCode = 1;
    }
  }
}
