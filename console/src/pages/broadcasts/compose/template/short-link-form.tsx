import { Button, Popover, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconLink } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api } from '../../../../api/client.js'
import { useSession } from '../../../../session/session.js'
import { messageOf } from '../../../../shared/problem.js'
import { toCampaign, withCampaign } from './campaign-link.js'

interface ShortLinkFormProps {
  /** The broadcast's name, the default for the campaign. */
  name: string
  /** The URL of the template's button, such as https://shop.example/s/{{1}}. */
  buttonUrl: string
  /** Called with the code of the new link. */
  onMade: (code: string) => void
}

/** Creates a short link for a template's button, so that its orders count for the broadcast. */
export function ShortLinkForm({ name, buttonUrl, onMade }: ShortLinkFormProps) {
  const { t } = useTranslation('broadcasts')
  const { utm_source: source } = useSession()
  const [isOpen, popover] = useDisclosure(false)
  const [address, setAddress] = useState('')
  const [ownCampaign, setOwnCampaign] = useState<string | null>(null)
  const campaign = toCampaign(ownCampaign ?? name)
  const target = withCampaign(address, source, campaign)
  const making = useMutation({
    mutationFn: (redirect_url: string) => api.post<{ shortlink: { code: string } }>('/shortlinks', { redirect_url }),
    onSuccess: ({ shortlink }) => {
      onMade(shortlink.code)
      popover.close()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    // The popover is inside the broadcast's form: do not submit that.
    event.stopPropagation()
    if (target !== null && campaign !== '') making.mutate(target)
  }
  return (
    <Popover opened={isOpen} onChange={popover.close} position="bottom-start" width={420} trapFocus withArrow>
      <Popover.Target>
        <Button
          variant="default"
          size="xs"
          leftSection={<IconLink aria-hidden size={14} />}
          onClick={popover.toggle}
          style={{ alignSelf: 'flex-start' }}
        >
          {t('link.make')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown maw="calc(100vw - 32px)">
        <form onSubmit={submit}>
          <Stack gap="sm">
            <TextInput
              label={t('link.address')}
              placeholder="https://shop.example/sale"
              value={address}
              onChange={({ currentTarget }) => setAddress(currentTarget.value)}
              error={address.trim() !== '' && target === null && t('complaints.address')}
              maxLength={2_000}
              data-autofocus
              withAsterisk
            />
            <TextInput
              label={t('link.campaign')}
              value={ownCampaign ?? campaign}
              onChange={({ currentTarget }) => setOwnCampaign(currentTarget.value)}
              maxLength={100}
              withAsterisk
            />
            {target !== null && (
              <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                {t('link.target', { target })}
              </Text>
            )}
            <Text size="xs" c="dimmed">
              {t('link.hint', { url: buttonUrl.replace(/\{\{.*\}\}/, '…') })}
            </Text>
            {making.error && (
              <Text size="sm" c="var(--mantine-color-error)" role="alert">
                {messageOf(making.error)}
              </Text>
            )}
            <Button type="submit" loading={making.isPending} disabled={target === null || campaign === ''}>
              {t('link.go')}
            </Button>
          </Stack>
        </form>
      </Popover.Dropdown>
    </Popover>
  )
}
