import { AdmissionPlugin, type Attributes, Configuration, changedPodTemplate, imagesOf, inject, parseImage, workloads } from 'kubenest/sdk';
import { ArrayNotEmpty, IsArray, IsNotEmpty, IsString, Type, ValidateNested } from 'kubenest/sdk/configuration';

export class RegistryMirror {
  /** Registry, or a registry and the beginning of the repository: `docker.io`, `ghcr.io/acme`. */
  @IsString()
  @IsNotEmpty()
  from = '';
  /** Text that replaces it. */
  @IsString()
  @IsNotEmpty()
  to = '';
}
export class ReplaceImageRegistryConfiguration {
  /** The first mirror whose `from` fits is used. */
  @IsArray()
  @ArrayNotEmpty()
  @ValidateNested({ each: true })
  @Type(() => RegistryMirror)
  mirrors: RegistryMirror[] = [];
}

/** Replaces the registries of images by mirrors. */
@AdmissionPlugin({ name: 'ReplaceImageRegistry', configuration: ReplaceImageRegistryConfiguration, match: workloads })
export class ReplaceImageRegistry {
  constructor(@inject(Configuration) private readonly configuration: ReplaceImageRegistryConfiguration) {}

  admit(request: Attributes): void {
    const template = changedPodTemplate(request);
    for (const placed of template ? imagesOf(template) : []) {
      const replaced = this.#replaced(placed.image);
      if (replaced !== undefined) placed.replace(replaced);
    }
  }

  #replaced(image: string): string | undefined {
    const parsed = parseImage(image);
    if (!parsed) return undefined;
    const { name, tag, digest } = parsed;
    const mirror = this.configuration.mirrors.find(({ from }) => name.startsWith(`${from}/`));
    if (!mirror) return undefined;
    return `${mirror.to}${name.slice(mirror.from.length)}${tag === undefined ? '' : `:${tag}`}${digest === undefined ? '' : `@${digest}`}`;
  }
}
