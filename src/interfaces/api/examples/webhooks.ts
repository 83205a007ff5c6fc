// biome-ignore-all format: recorded; `npx vitest run test/interfaces/description/examples.test.ts -u` records again
import type { Examples } from '../../../http/description/examples.js'

export const examples: Examples = {
  "webhooks.set": [
    {
      "name": "example",
      "body": {"url": "https://shop.example/hooks/parley", "events": ["*"], "description": "Orders"},
      "status": 201,
      "answer": {
        "success": true,
        "message": "The webhook is set: keep its secret",
        "webhook": {
          "id": "01a20000-0000-7000-8000-000000000001",
          "url": "https://shop.example/hooks/parley",
          "events": ["*"],
          "description": "Orders",
          "active": true,
          "created_at": "2026-03-02T09:00:00.000Z",
          "updated_at": "2026-03-02T09:00:00.000Z",
          "disabled_reason": null,
          "secret": "whsec_EXAMPLE"
        }
      }
    },
    {
      "name": "invalid_field",
      "body": {"url": "http://10.0.0.1/hook", "events": ["*"]},
      "status": 400,
      "answer": {
        "success": false,
        "error": "Invalid field",
        "message": "url cannot be called: its address 10.0.0.1 is private: webhooks are sent to public addresses only. Give an address that the internet can reach, such as https://example.com/hook, or have the operator allow it (PARLEY_ALLOWED_PRIVATE_HOSTS)"
      }
    }
  ],
  "webhooks.delete": [
    {
      "name": "webhook_not_found",
      "body": {"id": "01a20000-0000-7000-8000-000000000019"},
      "status": 404,
      "answer": {
        "success": false,
        "error": "Webhook not found",
        "message": "There is no webhook with the id 01a20000-0000-7000-8000-000000000019 in this organization"
      }
    },
    {
      "name": "example",
      "body": {"id": "01a20000-0000-7000-8000-000000000001"},
      "status": 200,
      "answer": {"success": true, "message": "The webhook 01a20000-0000-7000-8000-000000000001 has been removed"}
    }
  ],
  "webhooks.list": [
    {
      "name": "example",
      "status": 200,
      "answer": {
        "success": true,
        "webhooks": [
          {
            "id": "01a20000-0000-7000-8000-000000000001",
            "url": "https://shop.example/hooks/parley",
            "events": ["*"],
            "description": "Orders",
            "active": true,
            "created_at": "2026-03-02T09:00:00.000Z",
            "updated_at": "2026-03-02T09:00:00.000Z",
            "disabled_reason": null
          }
        ]
      }
    },
    {
      "name": "invalid_api_key",
      "status": 401,
      "answer": {"success": false, "error": "Invalid API key", "message": "API key is not known"}
    }
  ],
  "webhooks.test": [
    {
      "name": "example",
      "path": {"id": "01a20000-0000-7000-8000-000000000001"},
      "status": 200,
      "answer": {
        "success": true,
        "message": "The test is on its way",
        "delivery": {
          "id": "01a20000-0000-7000-8000-000000000020",
          "webhook_id": "01a20000-0000-7000-8000-000000000001",
          "event_id": "01a20000-0000-7000-8000-000000000021",
          "event_type": "webhook.test",
          "status": "pending",
          "attempts": [],
          "next_attempt_at": "2026-03-02T09:00:00.000Z",
          "created_at": "2026-03-02T09:00:00.000Z"
        }
      }
    },
    {
      "name": "webhook_not_found",
      "path": {"id": "01a20000-0000-7000-8000-000000000019"},
      "status": 404,
      "answer": {
        "success": false,
        "error": "Webhook not found",
        "message": "There is no webhook with the id 01a20000-0000-7000-8000-000000000019 in this organization"
      }
    }
  ],
  "webhooks.rotateSecret": [
    {
      "name": "example",
      "path": {"id": "01a20000-0000-7000-8000-000000000001"},
      "status": 200,
      "answer": {
        "success": true,
        "message": "The webhook has a new secret: keep it; the old one signs as well for 24 hours",
        "webhook": {
          "id": "01a20000-0000-7000-8000-000000000001",
          "url": "https://shop.example/hooks/parley",
          "events": ["*"],
          "description": "Orders",
          "active": true,
          "created_at": "2026-03-02T09:00:00.000Z",
          "updated_at": "2026-03-02T09:00:00.000Z",
          "disabled_reason": null,
          "secret": "whsec_EXAMPLE"
        }
      }
    },
    {
      "name": "webhook_not_found",
      "path": {"id": "01a20000-0000-7000-8000-000000000019"},
      "status": 404,
      "answer": {
        "success": false,
        "error": "Webhook not found",
        "message": "There is no webhook with the id 01a20000-0000-7000-8000-000000000019 in this organization"
      }
    }
  ],
  "webhooks.enable": [
    {
      "name": "example",
      "path": {"id": "01a20000-0000-7000-8000-000000000001"},
      "status": 200,
      "answer": {
        "success": true,
        "message": "The webhook is active",
        "webhook": {
          "id": "01a20000-0000-7000-8000-000000000001",
          "url": "https://shop.example/hooks/parley",
          "events": ["*"],
          "description": "Orders",
          "active": true,
          "created_at": "2026-03-02T09:00:00.000Z",
          "updated_at": "2026-03-02T09:00:00.000Z",
          "disabled_reason": null
        }
      }
    },
    {
      "name": "webhook_not_found",
      "path": {"id": "01a20000-0000-7000-8000-000000000019"},
      "status": 404,
      "answer": {
        "success": false,
        "error": "Webhook not found",
        "message": "There is no webhook with the id 01a20000-0000-7000-8000-000000000019 in this organization"
      }
    }
  ]
}
