import { validateSync } from 'class-validator';
import { combinationProblems } from './combinations.ts';
import { flagProperties } from './flag.ts';
import { type FlagSpec, flagTable } from './flag-table.ts';
import { type FlagValue, parseFlagValue } from './flag-value.ts';
import { inertFlags } from './inert-flags.ts';
import { OptionsError } from './options-error.ts';
import { parseArguments } from './parse-arguments.ts';
import type { ServerName } from './server-name.ts';
import { ServerOptions } from './server-options.ts';

/**
 * Returns the options without flags. `kube-apiserver` listens on all addresses of the host and runs no controllers, as its launchers
 * expect.
 */
export function defaultOptions(name: ServerName): ServerOptions {
  const options = new ServerOptions();
  if (name === 'kube-apiserver') options.serving.bindAddress = '0.0.0.0';
  else options.controllers.controllers = ['*'];
  return options;
}

/** The property that a flag sets. */
interface Target {
  readonly options: Record<string, unknown>;
  readonly property: string;
}

/** Result of a command line: help, version, or the options of a server. */
export type ServerCommand = { readonly help: true } | { readonly version: true } | { readonly options: ServerOptions };

/**
 * Returns the options of a command line, which override those of its `--config` file. Throws an OptionsError with all syntax and value
 * problems. `name`: the name by which the server was started.
 */
export async function readServerOptions(args: readonly string[], name: ServerName = 'kubenest serve'): Promise<ServerCommand> {
  const read = await readOptions(args, name);
  if (!('options' in read)) return read;
  const problems = [...read.unread, ...read.invalid];
  if (problems.length > 0) throw new OptionsError([...new Set(problems)]);
  return { options: read.options };
}

/** Options with their problems. */
export interface ReadOptions {
  readonly options: ServerOptions;
  /** Problems of single flags and members, which therefore have their defaults. */
  readonly unread: readonly string[];
  /** Problems of values, and of their combinations. */
  readonly invalid: readonly string[];
}

/** Reads a command line like `readServerOptions`, but returns the problems. */
export async function readOptions(
  args: readonly string[],
  name: ServerName = 'kubenest serve',
): Promise<ReadOptions | Exclude<ServerCommand, { readonly options: unknown }>> {
  const flags = flagTable();
  const { texts, errors } = parseArguments(args, flags);
  const isAsked = (name: string): boolean => texts.has(name) && texts.get(name)?.at(-1) !== 'false';
  if (isAsked('help')) return { help: true };
  if (isAsked('version')) return { version: true };

  const options = defaultOptions(name);
  const unread = [...errors];
  const file = texts.get('config')?.at(-1) ?? '';
  if (file !== '') {
    const { readConfigFile } = await import('./config-file.ts');
    unread.push(...(await readConfigFile(file, options, flags)));
  }
  const targets = targetsOf(options);
  for (const [flag, all] of texts) {
    // An empty value means that the flag is not set: launchers also pass flags without a value.
    const given = all.filter((text) => text !== '');
    if (given.length === 0 || flag === 'config') continue;
    unread.push(...setFlag(options, { name: flag, spec: flags.get(flag) as FlagSpec, texts: given }, targets.get(flag)));
    options.markGiven(flag);
  }
  // Naming an etcd without a backend selects etcd, which is upstream's default backend.
  if (options.storage.etcdServers.length > 0 && !options.isGiven('storage-backend')) options.storage.storageBackend = 'etcd3';
  // As clusters of kubeadm and kind do; upstream's default is for a server alone.
  if (options.nodes.areAny && !options.isGiven('allow-privileged')) options.pods.allowPrivileged = true;
  return { options, unread, invalid: [...validate(options), ...combinationProblems(options)] };
}

/** Returns the flags that have an effect, with the properties that they set. All others are inert flags. */
export function targetsOf(options: ServerOptions): ReadonlyMap<string, Target> {
  const targets = new Map<string, Target>();
  for (const [, concern] of options.concerns()) {
    for (const [flag, property] of flagProperties(concern)) targets.set(flag, { options: concern as Record<string, unknown>, property });
  }
  return targets;
}

interface GivenFlag {
  readonly name: string;
  readonly spec: FlagSpec;
  readonly texts: readonly string[];
}

/** Sets the property of a flag and returns the problems. `target` is undefined for a flag without an effect. */
function setFlag(options: ServerOptions, { name, spec, texts }: GivenFlag, target: Target | undefined): string[] {
  let value: FlagValue;
  try {
    value = parseFlagValue(spec.type, texts);
  } catch (error) {
    return [`invalid argument ${JSON.stringify(texts.at(-1))} for --${name}: ${(error as Error).message}`];
  }
  if (target) {
    target.options[target.property] = value;
    return [];
  }
  options.setInert(name, value);
  const problem = inertFlags.get(name)?.problemOf?.(String(value));
  return problem === undefined ? [] : [problem];
}

function validate(options: ServerOptions): string[] {
  return options.concerns().flatMap(([, concern]) => {
    return validateSync(concern, { forbidUnknownValues: false }).flatMap(({ constraints }) =>
      Object.values(constraints ?? {}).flatMap((message) => message.split('\n')),
    );
  });
}
