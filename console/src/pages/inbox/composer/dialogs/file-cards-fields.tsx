import { Button, Fieldset, Group, Select, Stack, Textarea, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { TEXT_LIMITS } from '../attachments/limits.js'
import { CARD_ACTIONS, CARD_FILES, fieldsOfCard, NO_CARD } from './file-cards.js'
import type { OfferValues } from './offers.js'

/** The cards of a carousel of files: their buttons are alike, and as many as WhatsApp takes. */
export function FileCardsFields({ form }: { form: UseFormReturnType<OfferValues> }) {
  const { t } = useTranslation('thread')
  const { cards } = form.values.fileCards
  return (
    <>
      <Select
        label={t('offer.cardAction')}
        data={CARD_ACTIONS.map((value) => ({ value, label: t(`offer.cardActions.${value}`) }))}
        allowDeselect={false}
        {...form.getInputProps('fileCards.action')}
      />
      {cards.map((_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the fields show the values of the form and have no state
        <Fieldset key={index} legend={t('offer.card', { number: index + 1 })}>
          <Stack gap="sm">
            <CardFields form={form} index={index} />
            {cards.length > TEXT_LIMITS.leastCards && (
              <Group justify="flex-end">
                <Button
                  variant="subtle"
                  color="gray"
                  size="compact-sm"
                  leftSection={<IconTrash aria-hidden size={16} />}
                  onClick={() => form.removeListItem('fileCards.cards', index)}
                >
                  {t('offer.removeCard', { number: index + 1 })}
                </Button>
              </Group>
            )}
          </Stack>
        </Fieldset>
      ))}
      {cards.length < TEXT_LIMITS.mostCards && (
        <Group>
          <Button
            variant="default"
            leftSection={<IconPlus aria-hidden size={16} />}
            onClick={() => form.insertListItem('fileCards.cards', NO_CARD)}
          >
            {t('offer.addCard')}
          </Button>
        </Group>
      )}
    </>
  )
}

function CardFields({ form, index }: { form: UseFormReturnType<OfferValues>; index: number }) {
  const { t } = useTranslation('thread')
  const { action, cards } = form.values.fileCards
  const path = `fileCards.cards.${index}` as const
  const kind = t(`kinds.${cards[index]?.kind ?? 'image'}`).toLocaleLowerCase()
  return (
    <>
      <Select
        label={t('offer.cardFile')}
        data={CARD_FILES.map((value) => ({ value, label: t(`kinds.${value}`) }))}
        allowDeselect={false}
        {...form.getInputProps(`${path}.kind`)}
      />
      {fieldsOfCard(action).map(({ name, maxLength, isNeeded }) => {
        const props = { maxLength, withAsterisk: isNeeded, ...form.getInputProps(`${path}.${name}`) }
        if (name === 'file') {
          return (
            <TextInput
              key={name}
              type="url"
              placeholder="https://"
              label={t('headerMedia', { kind })}
              description={t('headerMediaHint')}
              {...props}
            />
          )
        }
        const label = t(`offer.fields.${name}`)
        if (name === 'body') return <Textarea key={name} label={label} autosize minRows={2} maxRows={3} {...props} />
        if (name === 'url') return <TextInput key={name} label={label} type="url" placeholder="https://" {...props} />
        return <TextInput key={name} label={label} {...props} />
      })}
    </>
  )
}
