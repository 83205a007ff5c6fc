import { TEMPLATE_FIELDS } from '../templates/changes.js'
import { HISTORY_FIELD, ITEM_FIELDS } from './read/read-callback.js'
import { NOTICE_FIELDS } from './read/read-notices.js'

/** The fields of the upstream's callbacks that are read. The upstream posts only those that its app subscribes to. */
export const CALLBACK_FIELDS: readonly string[] = [...ITEM_FIELDS, HISTORY_FIELD, ...TEMPLATE_FIELDS, ...NOTICE_FIELDS]
