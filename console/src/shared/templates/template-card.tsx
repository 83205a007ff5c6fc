import { Box, Group, Image, Stack, Text } from '@mantine/core'
import {
  IconArrowBackUp,
  IconCopy,
  IconExternalLink,
  IconFileText,
  IconListDetails,
  IconMapPin,
  IconPhone,
  IconPhoto,
  IconVideo,
} from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { Markup } from '../markup.js'
import classes from './template-card.module.css'
import type { TemplateFileKind } from './template-form.js'

/** A template as it appears to people. */
export interface TemplateCardProps {
  header: string | null
  place: { name: string; address: string } | null
  file: { kind: TemplateFileKind; url: string | null; filename: string | null } | null
  body: string
  footer: string | null
  buttons: { kind: string; text: string }[]
}

/** The content of a template's bubble: header, body, footer and buttons. `children`: shown above the buttons. */
export function TemplateCard({
  header,
  place,
  file,
  body,
  footer,
  buttons,
  children,
}: TemplateCardProps & { children?: ReactNode }) {
  return (
    <Box className={classes.card}>
      {file && <HeaderFile {...file} />}
      <Stack gap={4} className={classes.text}>
        {place && (
          <Group gap={6} wrap="nowrap">
            <IconMapPin aria-hidden size={18} />
            <Text size="sm">{[place.name, place.address].filter(Boolean).join(', ')}</Text>
          </Group>
        )}
        {header && (
          <Text fw={600} size="sm">
            <Markup text={header} />
          </Text>
        )}
        <Text size="sm" component="div" className={classes.body}>
          <Markup text={body} />
        </Text>
        {footer && (
          <Text size="xs" className={classes.footer}>
            {footer}
          </Text>
        )}
      </Stack>
      {children}
      <ButtonRows buttons={buttons} />
    </Box>
  )
}

const ICONS: Record<string, typeof IconCopy> = {
  quick_reply: IconArrowBackUp,
  url: IconExternalLink,
  phone_number: IconPhone,
  copy_code: IconCopy,
  flow: IconListDetails,
}

/** The buttons of a message, which cannot be pressed here. */
export function ButtonRows({ buttons }: { buttons: { kind: string; text: string }[] }) {
  if (buttons.length === 0) return null
  return (
    <ul className={classes.buttons}>
      {buttons.map(({ kind, text }, index) => {
        const Icon = ICONS[kind]
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the entries have no id, and their order never changes
          <li key={index} className={classes.button}>
            {Icon && <Icon aria-hidden size={16} />}
            {text}
          </li>
        )
      })}
    </ul>
  )
}

function HeaderFile({ kind, url, filename }: NonNullable<TemplateCardProps['file']>) {
  const [isBroken, setBroken] = useState(false)
  if (kind === 'image' && url !== null && !isBroken) {
    return <Image src={url} alt="" className={classes.picture} onError={() => setBroken(true)} />
  }
  const Icon = { image: IconPhoto, video: IconVideo, document: IconFileText }[kind]
  return (
    <Group gap="xs" justify="center" className={classes.file}>
      <Icon aria-hidden size={28} stroke={1.4} />
      {filename && <Text size="sm">{filename}</Text>}
    </Group>
  )
}
