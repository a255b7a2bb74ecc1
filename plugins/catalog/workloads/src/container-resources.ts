import { AdmissionPlugin, type Attributes, Configuration, inject, Quantity, workloads } from 'kubenest/sdk';
import { ConfigurationError, IsObject, IsOptional } from 'kubenest/sdk/configuration';
import { IsTexts } from '../../common/configuration.ts';
import { denyContainers } from '../../common/deny.ts';

export class RequiredResourcesConfiguration {
  @IsTexts()
  requests: string[] = ['cpu', 'memory'];
  @IsTexts()
  limits: string[] = ['memory'];
}

const fields = ['requests', 'limits'] as const;

/** Denies containers without the required requests and limits. Ephemeral containers cannot have any. */
@AdmissionPlugin({ name: 'RequiredResources', configuration: RequiredResourcesConfiguration, match: workloads })
export class RequiredResources {
  constructor(@inject(Configuration) private readonly configuration: RequiredResourcesConfiguration) {}

  validate(request: Attributes): void {
    denyContainers(request, 'resources', ({ container: { resources }, sort }) => {
      if (sort === 'ephemeral container') return undefined;
      const missing = fields.flatMap((field) =>
        this.configuration[field].filter((name) => resources?.[field]?.[name] === undefined).map((name) => `${field}.${name}`),
      );
      return missing.length === 0 ? undefined : `missing ${missing.join(', ')}`;
    });
  }
}

export class MaximumResourcesConfiguration {
  /** Largest requests of a container, by resource: `{ cpu: "2" }`. */
  @IsOptional()
  @IsObject()
  requests: Record<string, string> = {};
  /** Largest limits of a container. A container without a limit exceeds it. */
  @IsOptional()
  @IsObject()
  limits: Record<string, string> = {};
}

/** Denies containers with larger requests or limits, and containers without a limit where there is a maximum. */
@AdmissionPlugin({ name: 'MaximumResources', configuration: MaximumResourcesConfiguration, match: workloads })
export class MaximumResources {
  readonly #maxima: readonly { readonly field: (typeof fields)[number]; readonly name: string; readonly most: Quantity }[];

  constructor(@inject(Configuration) configuration: MaximumResourcesConfiguration) {
    this.#maxima = fields.flatMap((field) =>
      Object.entries(configuration[field]).map(([name, text]) => ({ field, name, most: quantityOf(`${field}.${name}`, text) })),
    );
  }

  validate(request: Attributes): void {
    denyContainers(request, 'resources', ({ container: { resources }, sort }) => {
      if (sort === 'ephemeral container') return undefined;
      for (const { field, name, most } of this.#maxima) {
        const text = resources?.[field]?.[name];
        if (text === undefined && field === 'limits') return `missing limits.${name}, at most ${most}`;
        if (text !== undefined && Quantity.parse(text).compare(most) > 0) return `${field}.${name} is ${text}, at most ${most}`;
      }
      return undefined;
    });
  }
}

export class MaximumResourceRatioConfiguration {
  /** Largest quotient of limit and request, by resource: `{ cpu: "4", memory: "1" }`. */
  @IsObject()
  ratios: Record<string, string> = { memory: '1' };
}

/** Denies containers whose limit is a larger multiple of their request. Without a request, the limit is the request. */
@AdmissionPlugin({ name: 'MaximumResourceRatio', configuration: MaximumResourceRatioConfiguration, match: workloads })
export class MaximumResourceRatio {
  readonly #ratios: readonly { readonly name: string; readonly most: Quantity }[];

  constructor(@inject(Configuration) { ratios }: MaximumResourceRatioConfiguration) {
    this.#ratios = Object.entries(ratios).map(([name, text]) => ({ name, most: quantityOf(`ratios.${name}`, text) }));
  }

  validate(request: Attributes): void {
    denyContainers(request, 'resources', ({ container: { resources } }) => {
      for (const { name, most } of this.#ratios) {
        const limit = resources?.limits?.[name];
        const requested = resources?.requests?.[name];
        if (limit === undefined || requested === undefined) continue;
        // In integers, since quantities have no quotient: limit / request > most.
        if (nanosOf(limit) * 1_000_000_000n > nanosOf(requested) * most.scaledValue(-9))
          return `limits.${name} is more than ${most} times requests.${name}`;
      }
      return undefined;
    });
  }
}

function nanosOf(text: string): bigint {
  return Quantity.parse(text).scaledValue(-9);
}

function quantityOf(path: string, text: string): Quantity {
  try {
    return Quantity.parse(String(text));
  } catch (error) {
    throw new ConfigurationError([`${path}: ${(error as Error).message}`]);
  }
}
