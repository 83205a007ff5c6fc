import { asObject, isJsonObject, type JsonObject } from '../../../lib/text/json.js'
import { readBoolean, readNumber, readText, readTime } from './read.js'
import type { ContentOf, ShownContent } from './schemas.js'

/** A field that such content always has; that of a deleted message is empty. */
const MARKS = { product: 'seller', event: 'is_canceled', group_invite: 'group_name' } as const

/** A kind that only linked devices have; null if the content is not one's, but the upstream's under the same name. */
export function presentNetworkKind(kind: keyof typeof MARKS, content: JsonObject): ShownContent | null {
  if (Object.keys(content).length > 0 && !(MARKS[kind] in content)) return null
  switch (kind) {
    case 'product':
      return presentProduct(content)
    case 'event':
      return presentEvent(content)
    case 'group_invite':
      return presentGroupInvite(content)
  }
}

function presentProduct(content: JsonObject): ContentOf<'product'> {
  return {
    type: 'product',
    catalog_id: readText(content.catalog_id),
    product_id: readText(content.product_id),
    title: readText(content.title),
    description: readText(content.description),
    price: readNumber(content.price),
    currency: readText(content.currency),
    url: readText(content.url),
  }
}

function presentEvent(content: JsonObject): ContentOf<'event'> {
  const { latitude, longitude, name, address } = asObject(content.location)
  return {
    type: 'event',
    name: readText(content.name),
    description: readText(content.description),
    location: isJsonObject(content.location)
      ? {
          latitude: readNumber(latitude),
          longitude: readNumber(longitude),
          name: readText(name),
          address: readText(address),
        }
      : null,
    join_link: readText(content.join_link),
    starts_at: readTime(content.starts_at),
    ends_at: readTime(content.ends_at),
    is_canceled: readBoolean(content.is_canceled) ?? false,
  }
}

function presentGroupInvite(content: JsonObject): ContentOf<'group_invite'> {
  return {
    type: 'group_invite',
    group_id: readText(content.group_id),
    group_name: readText(content.group_name),
    caption: readText(content.caption),
    code: readText(content.code),
    expires_at: readTime(content.expires_at),
  }
}
