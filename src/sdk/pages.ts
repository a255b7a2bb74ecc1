/** What pages are made of: Nest's module and controllers, with the server's own Nest. */
export { pages, type PagesOptions } from '#apiserver/plugins/pages';
export { Body, Controller, Get, Header, HttpCode, Inject, Injectable, Module, Param, Post, Query, Redirect } from '@nestjs/common';
