import { isJsonObject, type JsonObject } from '../../../src/lib/text/json.js'
import { UPSTREAM_LIMITS } from '../../../src/upstream/limits.js'
import { type Refusal, refusals } from '../../errors/refusals.js'
import { checkButtons } from './buttons.js'
import { checkRequiredText, type KindOfUpload } from './checks.js'
import { checkList } from './list.js'
import { checkReference } from './media.js'

const bodyLimits = { button: UPSTREAM_LIMITS.body, list: UPSTREAM_LIMITS.listBody }
const { header: maxHeaderLength, footer: maxFooterLength } = UPSTREAM_LIMITS
const mediaHeaders = ['image', 'video', 'document'] as const

export function checkInteractive({ interactive }: JsonObject, kindOfUpload: KindOfUpload): Refusal | null {
  if (!isJsonObject(interactive)) return refusals.missing('interactive is required')
  const { type, body, footer, header, action } = interactive
  if (type === undefined) return refusals.missing('interactive: type is required')
  if (type !== 'button' && type !== 'list') {
    return refusals.invalidValue(`interactive: type must be one of button, list, but is ${type}`)
  }
  return (
    checkTextObject(body, 'Body', bodyLimits[type]) ??
    (footer === undefined ? null : checkTextObject(footer, 'Footer', maxFooterLength)) ??
    (header === undefined ? null : checkHeader(header, type, kindOfUpload)) ??
    (type === 'button' ? checkButtons(action) : checkList(action))
  )
}

function checkTextObject(value: unknown, name: string, max: number): Refusal | null {
  if (!isJsonObject(value)) return refusals.missing(`${name} text is required`)
  return checkRequiredText(value.text, `${name} text`, max)
}

function checkHeader(header: unknown, type: 'button' | 'list', kindOfUpload: KindOfUpload): Refusal | null {
  if (!isJsonObject(header) || header.type === undefined) return refusals.missing('Header type is required')
  if (header.type === 'text') return checkRequiredText(header.text, 'Header text', maxHeaderLength)
  if (type === 'list') return refusals.invalidValue('Header type must be text for interactive messages of type list')
  const kind = mediaHeaders.find((accepted) => accepted === header.type)
  if (kind) return checkReference(header[kind], kind, `interactive['header']['${kind}']`, kindOfUpload)
  return refusals.invalidValue(`Header type must be one of text, ${mediaHeaders.join(', ')}, but is ${header.type}`)
}
