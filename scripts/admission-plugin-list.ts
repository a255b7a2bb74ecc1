import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getMetadataStorage } from 'class-validator';
import { admissionPluginOptions } from '#apiserver/admission/admission-plugin';
import type { AdmissionMatch } from '#apiserver/admission/attributes';
import { admissionPlugins } from '#cmd/builtin-plugins';

/** A row of the page that lists the built-in admission plugins. */
export interface AdmissionPluginEntry {
  readonly name: string;
  readonly onByDefault: boolean;
  readonly phases: readonly ('mutating' | 'validating')[];
  /** Matched operations and resources as Markdown. */
  readonly matches: readonly string[];
  /** Members of its configuration. */
  readonly configuration: readonly string[];
}

/** Returns all built-in plugins in order. `tables` is the folder of the generated tables of options. */
export function admissionPluginList(tables: string): AdmissionPluginEntry[] {
  const { onByDefault } = JSON.parse(readFileSync(join(tables, 'admission.gen.json'), 'utf8')) as { onByDefault: string[] };
  return [...admissionPlugins].map(([name, Plugin]): AdmissionPluginEntry => {
    const { match, configuration } = admissionPluginOptions(Plugin);
    const { admit, validate } = Plugin.prototype as { admit?: unknown; validate?: unknown };
    return {
      name,
      onByDefault: onByDefault.includes(name),
      phases: [...(admit ? (['mutating'] as const) : []), ...(validate ? (['validating'] as const) : [])],
      matches: match.map(matchText),
      configuration: configuration ? membersOf(configuration) : [],
    };
  });
}

function matchText({ groups = ['*'], resources, subresources = [''], operations }: AdmissionMatch): string {
  const names = resources.flatMap((resource) =>
    subresources.map((subresource) => (subresource === '' ? resource : `${resource}/${subresource}`)),
  );
  const group = groups.filter((one) => one !== '' && one !== '*').join(', ');
  return `${operations.join(', ')} of ${names.map((name) => `\`${name}\``).join(', ')}${group === '' ? '' : ` (${group})`}`;
}

function membersOf(type: new () => object): string[] {
  const metadata = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  return [...new Set(metadata.map(({ propertyName }) => propertyName))];
}
