import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

/** An object, or without `name` the objects that the label selector matches. */
export interface Target {
  readonly kind: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly selector?: string;
}

/** Waits until `count` objects (default: at least one) contain `until`, or until no object is left if `count` is 0. */
export interface Wait extends Target {
  readonly until?: object;
  readonly count?: number;
}

/** One step: exactly one of the members is set. */
export interface Step {
  readonly create?: Manifest | readonly Manifest[];
  /** Merge patch of each target; `first` limits it to the first objects in the order of their names. */
  readonly patch?: Target & { readonly subresource?: string; readonly first?: number; readonly body: object };
  readonly delete?: Target & { readonly options?: object };
  readonly post?: Target & { readonly subresource: string; readonly body: object };
  readonly wait?: Wait;
  /** Seconds to wait, where nothing observable happens at first. */
  readonly pause?: number;
}

/** Flags of API server, controllers and scheduler, beyond the defaults. */
export interface Settings {
  readonly featureGates?: string;
  /** `--runtime-config` of the API server. */
  readonly runtimeConfig?: string;
  /** Addresses of the pods of nodes; the default is 10.244.0.0/16. */
  readonly clusterCidr?: string;
  /** A controller that does not run, because its period decides about the outcomes. */
  readonly withoutController?: string;
}

/**
 * A scenario has a namespace of its own, with its name. In strings, `$NS` is this namespace, `$NODE` the name of a node, `$UID` the UID of
 * the object created last, and `$NOW` the time, optionally with an offset in seconds (`$NOW-3600`).
 */
export interface Scenario {
  readonly name: string;
  readonly area: string;
  /** Settings of the cluster, those of the area. Each has a cluster of its own. */
  readonly settings: Settings;
  /** Cluster-scoped objects that all scenarios of the area share. */
  readonly setup?: readonly Manifest[];
  /** Runs after the others, when no other scenario runs: for what changes nodes or needs most of their capacity. */
  readonly alone?: boolean;
  readonly steps: readonly Step[];
  /** Kinds or single objects whose final state is compared. Default: that of the area. */
  readonly collect: readonly (string | Target)[];
}

interface Area {
  readonly collect: Scenario['collect'];
  readonly settings?: Settings;
  readonly setup?: readonly Manifest[];
  readonly scenarios: readonly (Omit<Scenario, 'area' | 'collect' | 'settings' | 'setup'> & Partial<Pick<Scenario, 'collect'>>)[];
}

const folder = new URL('./scenarios/', import.meta.url);

/** Reads all scenarios; the name of the file is the area. */
export function readScenarios(): Scenario[] {
  return readdirSync(folder).flatMap((file) => {
    const {
      collect,
      settings = {},
      setup = [],
      scenarios,
    } = parse(readFileSync(new URL(file, folder), 'utf8'), { merge: true, maxAliasCount: -1 }) as Area;
    return scenarios.map((scenario) => ({ collect, settings, setup, ...scenario, area: file.replace(/\.yaml$/, '') }));
  });
}

/** Groups scenarios by the cluster that they run on. */
export function bySettings(scenarios: readonly Scenario[]): { readonly settings: Settings; readonly scenarios: Scenario[] }[] {
  const groups = Map.groupBy(scenarios, ({ settings }) => JSON.stringify(settings));
  return [...groups.values()].map((group) => ({ settings: (group[0] as Scenario).settings, scenarios: group }));
}
