import { flagsOf, type Outcome, rows } from './rows.ts';

const head = `# Safety rules of the start flags

This page records how kube-apiserver v1.36.3 treats command lines that concern safety: defaults that depend on other flags, and combinations that it
rejects. kubenest does the same unless the last column gives a reason; its own defaults are in [get-started.md](../guide/get-started.md#flags). The outcome
\`starts\` means that the server runs. A status code is the response to an anonymous client that lists namespaces. Messages are kube-apiserver's.

\`test/security/start-flags/record.ts\` writes this page; \`start-flags.test.ts\` beside it checks every row.

| rule | flags | kube-apiserver | kubenest differs |
|---|---|---|---|
`;

/** Returns the content of docs/reference/start-flags.md. */
export function documentOf(outcomes: Readonly<Record<string, Outcome>>): string {
  const lines = rows.map((row) => {
    const flags = flagsOf(row, '…').map((flag) => `\`${flag}\``);
    return `| ${row.name} | ${cell(flags.join(' '))} | ${cell(shown(outcomes[row.name] as Outcome, row.isAsked ?? false))} | ${row.differs ?? ''} |\n`;
  });
  return head + lines.join('');
}

function shown(outcome: Outcome, isAsked: boolean): string {
  if ('refused' in outcome) return `refused: ${outcome.refused.replace(/, help: .*/s, '').replaceAll('FOLDER', '…')}`;
  return isAsked ? String(outcome.anonymous) : 'starts';
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}
