import { Controller, Get, Header, Inject, UseGuards } from '@nestjs/common';
import { AuthenticationGuard } from '#apiserver/authentication/authentication.guard';
import { AuthorizationGuard } from '#apiserver/authorization/authorization.guard';
import { AdmissionChain } from '#apiserver/admission/admission-chain';
import { admissionPluginOptions } from '#apiserver/admission/admission-plugin';
import { Scheme } from '#apiserver/registry/scheme';
import { StorageFactory } from '#apiserver/registry/storage-factory';
import { gitVersion } from '#cmd/version';

/** Status page of the server for people. RBAC authorizes its path like any other. */
@Controller('kubenest')
@UseGuards(AuthenticationGuard, AuthorizationGuard)
export class StatusPageController {
  constructor(
    @Inject(Scheme) private readonly scheme: Scheme,
    @Inject(StorageFactory) private readonly storage: StorageFactory,
    @Inject(AdmissionChain) private readonly admission: AdmissionChain,
  ) {}

  @Get()
  @Header('Content-Type', 'text/html; charset=utf-8')
  async page(): Promise<string> {
    const revision = await this.storage.storage.currentRevision();
    const plugins = this.admission.plugins.map((plugin) => admissionPluginOptions(plugin).name);
    const groups = this.scheme.groups.map(({ group, versions, resources }) => [
      group || 'core',
      versions.map(({ version }) => version).join(', '),
      String(resources.length),
    ]);
    return `<!doctype html><html lang="en"><meta charset="utf-8"><title>kubenest</title>
<style>body{font:15px system-ui;margin:2rem auto;max-width:48rem}td,th{text-align:left;padding:.1rem 1rem .1rem 0}</style>
<h1>kubenest</h1>
<p>Kubernetes API ${gitVersion}, storage at revision ${revision}</p>
<h2>Admission, in order</h2><ol>${plugins.map((name) => `<li>${escapeHtml(name)}</li>`).join('')}</ol>
<h2>API groups</h2><table><tr><th>group</th><th>versions</th><th>resources</th></tr>${groups.map((row) => `<tr>${row.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('')}</tr>`).join('')}</table>
</html>`;
  }
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
