import { type DynamicModule, Inject, Injectable, Module } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { Container } from 'inversify';
import { guardHook } from '#apiserver/plugins/guard-hook';
import { PagesGuard } from '#apiserver/plugins/guard-pages';
import type { PagesOptions } from '#apiserver/plugins/pages';
import type { GenericServer } from '#apiserver/server/generic-server';
import { StatusPageController } from '#cmd/pages/status-page.controller';
import { Contributions } from './contributions.ts';
import { ServerPart } from './server-part.ts';

/** The post-start hooks of packages. */
@Injectable()
@ServerPart()
class ContributedHooks implements ServerPart {
  constructor(
    @Inject(Contributions) private readonly contributions: Contributions,
    @Inject(Container) private readonly services: Container,
  ) {}

  install({ hooks }: GenericServer): void {
    for (const hook of this.contributions.make('PostStartHookPlugin', this.services, guardHook)) hooks.addPostStart(hook);
  }
}

/** Web pages of the server and of packages. Packages may also add post-start hooks. */
@Module({})
export class PackagesModule {
  static register(contributions: Contributions): DynamicModule {
    const pages = contributions.of('Pages');
    const guard = {
      provide: APP_INTERCEPTOR,
      useFactory: (services: Container) => new PagesGuard(pages, contributions.failures(services)),
      inject: [Container],
    };
    return {
      module: PackagesModule,
      imports: pages.map(({ described }) => (described.options as unknown as PagesOptions).module),
      controllers: [StatusPageController],
      providers: [ContributedHooks, ...(pages.length > 0 ? [guard] : [])],
    };
  }
}
