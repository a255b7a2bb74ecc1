/** Building blocks of pages: modules and controllers of the server's Nest instance. */
export { pages, type PagesOptions } from '#apiserver/plugins/pages';
export { Body, Controller, Get, Header, HttpCode, Inject, Injectable, Module, Param, Post, Query, Redirect } from '@nestjs/common';
