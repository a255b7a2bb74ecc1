// Generates the notices of the bundled packages, which their licences require in every copy.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const rule = '-'.repeat(80);

/**
 * Returns the names, versions, licences and notices of packages, whose folders are relative to `root`. Throws if a package
 * has no licence.
 */
export function noticesText(root, folders) {
  const notices = folders.map((folder) => noticeOf(join(root, folder)));
  return ['kubenest contains the packages below, each under its own licence.', ...new Set(notices)].join(`\n\n${rule}\n\n`) + '\n';
}

function noticeOf(folder) {
  const { name, version, license: expression, licenses, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  // Old manifests have a list of licences.
  const license = expression ?? licenses?.map(({ type }) => type).join(' OR ');
  const all = readdirSync(folder);
  const textOf = (file) => readFileSync(join(folder, file), 'utf8').trim();
  const texts = all.filter((file) => /^(licen[cs]e|notice|copying)/i.test(file)).map(textOf);
  if (texts.length === 0) texts.push(...all.filter((file) => /^readme/i.test(file)).flatMap((file) => sectionOf(textOf(file)) ?? []));
  if (texts.length === 0 && license === undefined) throw new Error(`${name} is bundled but has no licence`);
  // Some packages contain no licence text.
  if (texts.length === 0) texts.push(`Copyright: ${author?.name ?? author ?? `the authors of ${name}`}`);
  return [`${name} ${version} (${license ?? 'licence below'})`, ...texts].join('\n\n');
}

/** Returns the section about the licence in a readme file, where old packages have it; undefined if there is none. */
function sectionOf(readme) {
  return /^#+ *licen[cs]e\b.*\n([\s\S]*?)(?=^#|(?![\s\S]))/im.exec(readme)?.[1]?.trim();
}
