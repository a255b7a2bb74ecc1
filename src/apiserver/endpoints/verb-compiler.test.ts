import 'reflect-metadata';
import { Injectable, type NestInterceptor, UseGuards, UseInterceptors } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { expect, it } from 'vitest';
import { VerbCompiler, type VerbHandler } from './verb-compiler.ts';

const calls: string[] = [];

class Opening {
  open(): void {
    calls.push('open');
  }
}
class Wrapping implements Pick<NestInterceptor, 'intercept'> {
  intercept(): never {
    throw new Error('not to be called');
  }
}
class Guard {
  canActivate(): boolean {
    return false;
  }
}

@Injectable()
@UseInterceptors(Opening as never)
class Opened implements VerbHandler {
  handle(): void {
    calls.push('handle');
  }
}
@UseGuards(Guard)
class Guarded implements VerbHandler {
  handle(): void {}
}
class Wrapped implements VerbHandler {
  @UseInterceptors(Wrapping)
  handle(): void {}
}

const modules = { get: (type: new () => object) => new type() } as unknown as ModuleRef;
const unused = undefined as never;
const compiler = new VerbCompiler(modules, unused, unused, unused, unused, unused, unused, unused, unused);

it('opens the interceptors of a handler before it calls it', () => {
  void compiler.compile(new Opened())(unused, unused);
  expect(calls).toEqual(['open', 'handle']);
});

it.each([
  { name: 'a guard', handler: new Guarded() },
  { name: 'an interceptor that wraps the answer', handler: new Wrapped() },
])('refuses a handler with $name', ({ handler }) => {
  expect(() => compiler.compile(handler)).toThrow(`${handler.constructor.name}: handlers of verbs have opening interceptors only`);
});
