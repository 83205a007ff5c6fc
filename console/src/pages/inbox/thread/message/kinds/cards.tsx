import { Anchor, Avatar, Group, Stack, Text } from '@mantine/core'
import type { ContentOf } from '../../../../../../../src/model/messages/shown/schemas.js'
import classes from './body.module.css'

/** Contact cards: names, and numbers to call. */
export function Cards({ content }: { content: ContentOf<'contacts'> }) {
  return (
    <Stack gap={6}>
      {content.contacts.map((card, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: cards have no id, and their order never changes
        <Card key={index} card={card} />
      ))}
    </Stack>
  )
}

function Card({ card }: { card: ContentOf<'contacts'>['contacts'][number] }) {
  const phones = card.phones.flatMap(({ phone }) => phone ?? [])
  const shown = card.name ?? phones[0] ?? '?'
  return (
    <div className={classes.box}>
      <Group gap="sm" wrap="nowrap" align="flex-start">
        <Avatar name={shown} color="initials" radius="xl" size={38} aria-hidden />
        <Stack gap={0} miw={0}>
          <Text size="sm" fw={600} lineClamp={2}>
            {shown}
          </Text>
          {phones.map((phone) => (
            <Anchor key={phone} href={`tel:${phone.replace(/[^\d+]/g, '')}`} size="sm">
              {phone}
            </Anchor>
          ))}
        </Stack>
      </Group>
    </div>
  )
}
