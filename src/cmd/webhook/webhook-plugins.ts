import type { Container } from 'inversify';
import { AdmissionChain, type AdmissionSteps } from '#apiserver/admission/admission-chain';
import type { AdmissionMetrics } from '#apiserver/admission/admission-metrics';
import { admissionPluginOptions } from '#apiserver/admission/admission-plugin';
import type { AdmissionHandler, AdmissionPluginOptions } from '#apiserver/admission/attributes';
import type { LoadedContribution } from '#apiserver/plugins/loaded-contribution';
import { orderPlugins } from '#apiserver/plugins/order-plugins';
import { admissionPlugins } from '#cmd/builtin-plugins';
import type { ExceptionObjects } from '#apiserver/plugins/policy/exception-objects';
import type { Contributions } from '#cmd/modules/contributions';
import { PackageAdmission } from '#cmd/modules/package-admission';
import { ExceptionRules, exceptionRules } from './exception-rules.ts';

/** Number of kept chains. Manifests need few; the limit keeps invented paths from filling the memory. */
const maxChains = 100;

/** The admission plugins of packages in their order, without the server's built-in ones, and the rules of exceptions. */
export class WebhookPlugins {
  readonly #packages: PackageAdmission;
  #plugins: readonly AdmissionHandler[];
  /** Chains of some of the plugins by their names; cleared when plugins are replaced. */
  readonly #chains = new Map<string, AdmissionChain>();

  /** Throws an error that names a plugin which cannot be created. */
  constructor(
    services: Container,
    contributions: Contributions,
    private readonly metrics: AdmissionMetrics,
    exceptions: ExceptionObjects,
  ) {
    this.#packages = new PackageAdmission(services, contributions, exceptions);
    const ofPackages = inOrder(this.#packages.plugins);
    this.#plugins = [...ofPackages, new ExceptionRules(ofPackages.map(nameOf))];
  }

  /** Returns the chain of the plugins with these names (in lower case), or of all. Undefined if a plugin does not exist. */
  chain(names?: readonly string[]): AdmissionSteps | undefined {
    const key = names ? [...names].sort().join('/') : '';
    let chain = this.#chains.get(key);
    if (chain) return chain;
    const plugins = names ? this.#plugins.filter((plugin) => names.includes(pathName(nameOf(plugin)))) : this.#plugins;
    if (names && plugins.length !== names.length) return undefined;
    chain = new AdmissionChain(plugins, this.metrics);
    if (this.#chains.size < maxChains) this.#chains.set(key, chain);
    return chain;
  }

  /** Forgets what the chains have compiled for requests. */
  forgetChains(): void {
    this.#chains.clear();
  }

  /**
   * Applies changed policies and configurations. Throws, and changes nothing, if a plugin cannot be created. The replaced plugins are
   * disposed of once `unused` resolves.
   */
  replace(contributions: readonly LoadedContribution[], unused: () => Promise<void>): void {
    this.#packages.replace(
      contributions,
      (replacements) => {
        this.#plugins = this.#plugins.map((plugin) => replacements.get(plugin) ?? plugin);
        this.forgetChains();
      },
      unused,
    );
  }
}

/** Returns the name of a plugin in the path of a webhook, whose segments are DNS names: `Team` is `team`, `acme_Team` is `acme-team`. */
export function pathName(plugin: string): string {
  return plugin
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}

/**
 * Returns the names of plugins in the order in which the server calls them. Throws if two have the same name in paths, or if their order
 * contradicts itself.
 */
export function namesInOrder(plugins: readonly AdmissionPluginOptions[]): string[] {
  const order = orderPlugins([], plugins, undefined, new Set(admissionPlugins.keys()));
  for (const [at, name] of order.entries()) {
    const same = [exceptionRules, ...order.slice(0, at)].find((other) => pathName(other) === pathName(name));
    if (same !== undefined)
      throw new Error(
        `admission plugins ${same} and ${name} have the same name in the paths of webhooks, ${pathName(name)}: rename one of them`,
      );
  }
  return order;
}

function inOrder(plugins: readonly AdmissionHandler[]): AdmissionHandler[] {
  const byName = new Map(plugins.map((plugin) => [nameOf(plugin), plugin]));
  return namesInOrder(plugins.map(admissionPluginOptions)).map((name) => byName.get(name) as AdmissionHandler);
}

function nameOf(plugin: AdmissionHandler): string {
  return admissionPluginOptions(plugin).name;
}
