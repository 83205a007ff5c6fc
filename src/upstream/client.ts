import { type OutageWatch, unwatched } from '../lib/async/outages.js'
import type { JsonObject } from '../lib/text/json.js'
import { type Blocking, blockUser } from './block-users.js'
import { type ConnectingClient, createConnectingClient } from './connecting/client.js'
import { type BusinessNumber, openConnection } from './connection.js'
import {
  type ChangeTemplateOutcome,
  type CreateTemplateOutcome,
  createTemplate,
  deleteTemplate,
  editTemplate,
  type FindTemplateOutcome,
  findTemplate,
} from './manage-templates.js'
import { markRead, type ReadMark } from './mark-read.js'
import { type FindMediaOutcome, findMedia, type UploadFile, type UploadOutcome, uploadMedia } from './media.js'
import { type FindNumberOutcome, findNumber } from './numbers.js'
import type { RepeatableOutcome } from './repeatable.js'
import { type SendOutcome, send } from './send.js'
import { type UploadExampleOutcome, uploadExample } from './template-examples.js'
import { type LibraryQuery, type ListLibraryOutcome, listLibrary } from './template-library.js'
import {
  type BusinessAccount,
  type CheckTemplatesOutcome,
  checkTemplates,
  type ListTemplatesOutcome,
  listTemplates,
  type TemplateCursor,
} from './templates.js'
import type { OutboundMessage } from './wire.js'

export type { Blocking } from './block-users.js'
export type { ConnectingClient } from './connecting/client.js'
export type { BusinessNumber, UpstreamAccess } from './connection.js'
export type {
  ChangeTemplateOutcome,
  CreateTemplateOutcome,
  FindTemplateOutcome,
  TemplateFailure,
} from './manage-templates.js'
export type { ReadMark } from './mark-read.js'
export type { FindMediaOutcome, UploadFile, UploadOutcome } from './media.js'
export type { FindNumberOutcome } from './numbers.js'
export type { CallFailure, RepeatableOutcome } from './repeatable.js'
export type { SendOutcome } from './send.js'
export type { UploadExampleOutcome } from './template-examples.js'
export type { LibraryQuery, LibraryTemplate, ListLibraryOutcome } from './template-library.js'
export type {
  BusinessAccount,
  CheckTemplatesOutcome,
  ListedTemplate,
  ListTemplatesOutcome,
  TemplateCursor,
} from './templates.js'

/** The parts of the upstream's API that Parley uses. */
export interface UpstreamClient {
  /** Sends one message, waiting at most `timeoutMs`. Never throws. */
  send(number: BusinessNumber, message: OutboundMessage, timeoutMs: number): Promise<SendOutcome>
  /** Marks a received message as read and may show typing, waiting at most `timeoutMs`. Never throws. */
  markRead(number: BusinessNumber, mark: ReadMark, timeoutMs: number): Promise<RepeatableOutcome>
  /** Blocks or unblocks a person, waiting at most `timeoutMs`. Never throws. */
  blockUser(number: BusinessNumber, blocking: Blocking, timeoutMs: number): Promise<RepeatableOutcome>
  /** Uploads a file for messages of this number, waiting at most `timeoutMs`. Never throws. */
  uploadMedia(number: BusinessNumber, file: UploadFile, timeoutMs: number): Promise<UploadOutcome>
  /** Finds the address of a file by its id, waiting at most `timeoutMs`. Never throws. */
  findMedia(number: BusinessNumber, mediaId: string, timeoutMs: number): Promise<FindMediaOutcome>
  /** Checks that the number's access token can read it, waiting at most `timeoutMs`. Never throws. */
  findNumber(number: BusinessNumber, timeoutMs: number): Promise<FindNumberOutcome>
  /**
   * Lists the templates of a business account on the page at `cursor` (null: the first), waiting at most `timeoutMs`.
   * Never throws.
   */
  listTemplates(
    account: BusinessAccount,
    cursor: TemplateCursor | null,
    timeoutMs: number,
  ): Promise<ListTemplatesOutcome>
  /**
   * Checks that the access token can list the templates of a business account, waiting at most `timeoutMs`. Never
   * throws.
   */
  checkTemplates(account: BusinessAccount, timeoutMs: number): Promise<CheckTemplatesOutcome>
  /** Creates a template in an account, waiting at most `timeoutMs`. Never throws. */
  createTemplate(account: BusinessAccount, fields: JsonObject, timeoutMs: number): Promise<CreateTemplateOutcome>
  /** Changes the given fields of a template, waiting at most `timeoutMs`. Never throws. */
  editTemplate(
    account: BusinessAccount,
    edit: { upstreamId: string; fields: JsonObject },
    timeoutMs: number,
  ): Promise<ChangeTemplateOutcome>
  /** Deletes a template, in one language if its id is given. Waits at most `timeoutMs`. Never throws. */
  deleteTemplate(
    account: BusinessAccount,
    template: { name: string; upstreamId: string | null },
    timeoutMs: number,
  ): Promise<ChangeTemplateOutcome>
  /** Reads one template by its id, waiting at most `timeoutMs`. Never throws. */
  findTemplate(account: BusinessAccount, upstreamId: string, timeoutMs: number): Promise<FindTemplateOutcome>
  /** Uploads an example file of a template, waiting at most `timeoutMs`. Never throws. */
  uploadExample(account: BusinessAccount, file: UploadFile, timeoutMs: number): Promise<UploadExampleOutcome>
  /** Lists a page of the library of templates, waiting at most `timeoutMs`. Never throws. */
  listLibrary(account: BusinessAccount, query: LibraryQuery, timeoutMs: number): Promise<ListLibraryOutcome>
  /** The calls that connect a number. */
  connecting: ConnectingClient
  close(): Promise<void>
}

/** One call that has ended, for metrics. */
export interface EndedCall {
  call: Exclude<keyof UpstreamClient, 'close' | 'connecting'> | keyof ConnectingClient
  /** The outcome's own name, such as `accepted`. */
  outcome: string
  /** The upstream's error code, or the HTTP status if there is none; null: there was no error, or no answer. */
  code: number | null
  seconds: number
}

/**
 * Creates a client of the API at `baseUrl` (with its version, such as https://host/v23.0). `onCall` is called
 * with each call when it has ended; `outage` learns whether it was answered.
 */
export function createUpstreamClient(
  baseUrl: string,
  onCall: (ended: EndedCall) => void = () => undefined,
  outage: OutageWatch = unwatched,
): UpstreamClient {
  const connection = openConnection(baseUrl, outage)

  async function timed<Result extends { outcome: string; code?: number | null }>(
    call: EndedCall['call'],
    running: Promise<Result>,
  ): Promise<Result> {
    const begunAt = performance.now()
    const result = await running
    onCall({ call, outcome: result.outcome, code: result.code ?? null, seconds: (performance.now() - begunAt) / 1_000 })
    return result
  }

  return {
    send: (number, message, timeoutMs) => timed('send', send(connection, number, message, timeoutMs)),
    markRead: (number, mark, timeoutMs) => timed('markRead', markRead(connection, number, mark, timeoutMs)),
    blockUser: (number, blocking, timeoutMs) => timed('blockUser', blockUser(connection, number, blocking, timeoutMs)),
    uploadMedia: (number, file, timeoutMs) => timed('uploadMedia', uploadMedia(connection, number, file, timeoutMs)),
    findMedia: (number, mediaId, timeoutMs) => timed('findMedia', findMedia(connection, number, mediaId, timeoutMs)),
    findNumber: (number, timeoutMs) => timed('findNumber', findNumber(connection, number, timeoutMs)),
    listTemplates: (account, cursor, timeoutMs) =>
      timed('listTemplates', listTemplates(connection, account, cursor, timeoutMs)),
    checkTemplates: (account, timeoutMs) => timed('checkTemplates', checkTemplates(connection, account, timeoutMs)),
    createTemplate: (account, fields, timeoutMs) =>
      timed('createTemplate', createTemplate(connection, account, fields, timeoutMs)),
    editTemplate: (account, edit, timeoutMs) =>
      timed('editTemplate', editTemplate(connection, account, edit, timeoutMs)),
    deleteTemplate: (account, template, timeoutMs) =>
      timed('deleteTemplate', deleteTemplate(connection, account, template, timeoutMs)),
    findTemplate: (account, upstreamId, timeoutMs) =>
      timed('findTemplate', findTemplate(connection, account, upstreamId, timeoutMs)),
    uploadExample: (account, file, timeoutMs) =>
      timed('uploadExample', uploadExample(connection, account, file, timeoutMs)),
    listLibrary: (account, query, timeoutMs) =>
      timed('listLibrary', listLibrary(connection, account, query, timeoutMs)),
    connecting: createConnectingClient(connection, timed),
    close: () => connection.client.drain(),
  }
}
