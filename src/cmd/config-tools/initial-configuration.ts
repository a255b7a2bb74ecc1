import { stringify } from 'yaml';
import { describedFlags } from '#cmd/options/help';
import { flagProperties } from '#cmd/options/flag';
import { flagTable } from '#cmd/options/flag-table';
import type { FlagValue } from '#cmd/options/flag-value';
import { formatFlagValue } from '#cmd/options/flag-values';
import { defaultOptions } from '#cmd/options/read-server-options';

const head = `# Configuration of a kubenest server: kubenest serve --config FILE
# Each commented member has its default. Remove "# " to change one. Flags on the command line take precedence. kubenest config validate FILE
# reports all errors. A string may contain \${env:NAME} or \${file:PATH} for a secret.
apiVersion: kubenest.dev/v1alpha1
kind: ServerConfiguration
`;

const packages = `
# plugins:
#   - package: "@acme/team-labels"
#     integrity: sha512-...
#     configuration:
#       TeamLabels: { labels: [team] }
#     policies:
#       TeamLabels: { mode: warn }
`;

/** Returns a file of kind ServerConfiguration that has every option as a comment, with its meaning and its default. */
export function initialConfiguration(): string {
  const described = new Map(describedFlags('kubenest serve').map((flag) => [flag.name, flag]));
  const options = defaultOptions('kubenest serve');
  const sections = options.concerns().flatMap(([name, concern]) => {
    const members = [...flagProperties(concern)].flatMap(([flag, property]) => {
      const { description } = described.get(flag) ?? {};
      if (description === undefined) return [];
      const value = (concern as Readonly<Record<string, unknown>>)[property] as FlagValue;
      return [`#   # ${description}`, `#   ${property}: ${valueText(flagTable().get(flag)?.type ?? '', value)}`];
    });
    return members.length === 0 ? [] : [`\n# ${name}:\n${members.join('\n')}\n`];
  });
  return head + sections.join('') + packages;
}

/** Returns a value in the form in which the file has it. */
function valueText(type: string, value: FlagValue): string {
  const plain =
    type === 'duration' ? formatFlagValue(type, value) : value instanceof Map ? Object.fromEntries(value as Map<string, string>) : value;
  return stringify(plain, { collectionStyle: 'flow', lineWidth: 0, version: '1.1' }).trimEnd();
}
