import { Module } from '@nestjs/common';
import { StatusPageController } from '#cmd/pages/status-page.controller';

/** What is served for people rather than for programs. */
@Module({ controllers: [StatusPageController] })
export class PagesModule {}
