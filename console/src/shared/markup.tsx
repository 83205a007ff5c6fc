import { Anchor } from '@mantine/core'
import { Fragment, type ReactNode } from 'react'
import classes from './markup.module.css'

/**
 * A text with WhatsApp's formatting: *bold*, _italic_, ~struck~, `mono` and ```blocks```, and links. The text is not
 * trusted: it becomes text nodes and a few elements, never HTML.
 */
export function Markup({ text }: { text: string }) {
  return <>{render(text)}</>
}

// Marks must be at the edge of a word and touch the text that they mark.
const EDGE_BEFORE = '(?<![\\p{L}\\p{N}])'
const EDGE_AFTER = '(?![\\p{L}\\p{N}])'
const marked = (mark: string) => `${EDGE_BEFORE}[${mark}](?=\\S)([^${mark}\\n]*[^${mark}\\s])[${mark}]${EDGE_AFTER}`
const TOKEN = new RegExp(
  [
    '```([\\s\\S]+?)```',
    '`([^`\\n]+)`',
    '((?:https?://|www\\.)[^\\s<>"]+)',
    '([\\p{L}\\p{N}._%+-]{1,64}@[\\p{L}\\p{N}-]+(?:\\.[\\p{L}\\p{N}-]+)+)',
    '(\\+\\d[\\d ().-]{6,18}\\d)',
    '(\\{\\{[^{}\\n]*\\}\\})',
    marked('*'),
    marked('_'),
    marked('~'),
  ].join('|'),
  'gu',
)

function render(text: string): ReactNode[] {
  const parts: ReactNode[] = []
  let end = 0
  for (const match of text.matchAll(TOKEN)) {
    if (match.index > end) parts.push(text.slice(end, match.index))
    parts.push(<Fragment key={match.index}>{renderToken(match)}</Fragment>)
    end = match.index + match[0].length
  }
  if (end < text.length) parts.push(text.slice(end))
  return parts
}

function renderToken(match: RegExpMatchArray): ReactNode {
  const [whole, block, mono, address, email, phone, placeholder, bold, italic, struck] = match
  if (block !== undefined) return <code className={classes.block}>{block.trim()}</code>
  if (mono !== undefined) return <code className={classes.mono}>{mono}</code>
  if (address !== undefined) return <Address text={address} />
  if (email !== undefined) return <Link href={`mailto:${email}`}>{email}</Link>
  if (phone !== undefined) return <Link href={`tel:${phone.replace(/[^\d+]/g, '')}`}>{phone}</Link>
  if (placeholder !== undefined) return <mark className={classes.placeholder}>{placeholder}</mark>
  if (bold !== undefined) return <strong>{render(bold)}</strong>
  if (italic !== undefined) return <em>{render(italic)}</em>
  if (struck !== undefined) return <s>{render(struck)}</s>
  return whole
}

/** Removes punctuation that ends a sentence from the end of a URL. */
function Address({ text }: { text: string }) {
  const [trailing = ''] = /[.,;:!?'"*_~)\]]+$/.exec(text) ?? []
  // A closing bracket belongs to a URL with an opening one.
  const kept = trailing.startsWith(')') && text.includes('(') ? trailing.slice(1) : trailing
  const address = text.slice(0, text.length - kept.length)
  const href = safeAddress(address.startsWith('www.') ? `https://${address}` : address)
  if (href === null) return text
  return (
    <>
      <Link href={href}>{address}</Link>
      {kept}
    </>
  )
}

/** The URL if it is safe to follow, else null. */
export function safeAddress(address: string): string | null {
  try {
    const { protocol, href } = new URL(address)
    return ['http:', 'https:', 'mailto:', 'tel:'].includes(protocol) ? href : null
  } catch {
    return null
  }
}

function Link({ href, children }: { href: string; children: ReactNode }) {
  return (
    <Anchor href={href} target="_blank" rel="noopener noreferrer" inherit underline="always" className={classes.link}>
      {children}
    </Anchor>
  )
}
