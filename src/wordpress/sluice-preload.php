<?php
/**
 * Plugin Name:       Sluice Preload
 * Description:       After each change, purges and warms the pages that show it at the edge, without making the editor wait.
 * Version:           1.1.0
 * Requires at least: 5.9
 * Requires PHP:      7.4
 * Author:            The Sluice contributors
 * License:           MIT
 * License URI:       https://opensource.org/licenses/MIT
 * Text Domain:       sluice-preload
 * Domain Path:       /languages
 *
 * May also stand in wp-content/mu-plugins. Loaded twice, it does nothing the second time.
 *
 * @package Sluice_Preload
 */

defined( 'ABSPATH' ) || exit;

if ( ! class_exists( 'Sluice_Preload_Proxy', false ) && is_readable( __DIR__ . '/sluice-preload-address.php' ) ) {
	require __DIR__ . '/sluice-preload-address.php';
}

if ( ! class_exists( 'Sluice_Preload_Proxy', false ) ) {
	add_action(
		'admin_notices',
		static function () {
			printf( '<div class="notice notice-error"><p>%s</p></div>', esc_html__( 'Sluice Preload does nothing: its file sluice-preload-address.php is missing. Copy the whole folder of the plugin.', 'sluice-preload' ) );
		}
	);
} elseif ( ! defined( 'SLUICE_PRELOAD_VERSION' ) ) {
	define( 'SLUICE_PRELOAD_VERSION', '1.1.0' );

	/**
	 * Signed requests to the Worker.
	 */
	final class Sluice_Preload_Client {
		/**
		 * Sends a signed request and waits for the reply.
		 *
		 * @param string     $method    GET, POST or PUT.
		 * @param string     $path      The path at the Worker.
		 * @param array|null $body      Sent as JSON.
		 * @param int        $timeout_s When to give up.
		 * @return array With status (0 without a reply), reason, retry_after in seconds and body.
		 */
		public static function request( $method, $path, $body = null, $timeout_s = 10 ) {
			$url     = Sluice_Preload_Settings::get( 'worker_url' ) . $path;
			$content = null === $body ? '' : wp_json_encode( $body, JSON_UNESCAPED_SLASHES );
			$headers = self::sign(
				Sluice_Preload_Settings::get( 'signing_key' ),
				$method,
				self::get_signed_path( $url ),
				$content,
				time(),
				bin2hex( random_bytes( 16 ) )
			);
			if ( null !== $body ) {
				$headers['Content-Type'] = 'application/json';
			}
			$headers['Accept'] = 'application/json';
			// Not wp_safe_remote_request: an administrator chose this address, and it may be a private one.
			$reply = wp_remote_request(
				$url,
				array(
					'method'      => $method,
					'headers'     => $headers,
					'body'        => '' === $content ? null : $content,
					'timeout'     => $timeout_s,
					'redirection' => 0,
					'user-agent'  => 'SluicePreload/' . SLUICE_PRELOAD_VERSION . '; ' . home_url( '/' ),
				)
			);
			return is_wp_error( $reply ) ? self::describe_failure( $reply ) : self::describe_reply( $reply );
		}

		/**
		 * The headers that sign a request.
		 *
		 * @param string $key       The zone's key.
		 * @param string $method    The method.
		 * @param string $path      The path with its query.
		 * @param string $content   The body.
		 * @param int    $timestamp Unix time.
		 * @param string $nonce     Never used before.
		 * @return array
		 */
		public static function sign( $key, $method, $path, $content, $timestamp, $nonce ) {
			$lines = array( $method, $path, (string) $timestamp, $nonce, hash( 'sha256', $content ) );
			return array(
				'X-Timestamp' => (string) $timestamp,
				'X-Nonce'     => $nonce,
				'X-Signature' => hash_hmac( 'sha256', implode( "\n", $lines ), $key ),
			);
		}

		/**
		 * The path of a route of this site's zone.
		 *
		 * @param string $route Such as status.
		 * @return string
		 */
		public static function get_zone_path( $route ) {
			return '/api/v1/zones/' . rawurlencode( Sluice_Preload_Settings::get( 'zone_id' ) ) . '/' . $route;
		}

		/**
		 * Path and query of a URL.
		 *
		 * @param string $url The URL.
		 * @return string
		 */
		private static function get_signed_path( $url ) {
			$query = wp_parse_url( $url, PHP_URL_QUERY );
			return wp_parse_url( $url, PHP_URL_PATH ) . ( $query ? '?' . $query : '' );
		}

		/**
		 * What a reply says.
		 *
		 * @param array $reply As wp_remote_request returns it.
		 * @return array
		 */
		private static function describe_reply( $reply ) {
			$status = (int) wp_remote_retrieve_response_code( $reply );
			$body   = json_decode( wp_remote_retrieve_body( $reply ), true );
			$body   = is_array( $body ) ? $body : array();
			$detail = isset( $body['detail'] ) && is_string( $body['detail'] ) ? $body['detail'] : wp_remote_retrieve_response_message( $reply );
			return array(
				'status'      => $status,
				/* translators: 1: HTTP status code, 2: the Worker's own words. */
				'reason'      => sprintf( __( 'The Worker answered %1$d: %2$s', 'sluice-preload' ), $status, mb_substr( $detail, 0, 500 ) ),
				'retry_after' => self::read_delay( (string) wp_remote_retrieve_header( $reply, 'retry-after' ) ),
				'body'        => $body,
			);
		}

		/**
		 * What Retry-After asks for: seconds, or a date.
		 *
		 * @param string $value The header.
		 * @return int Seconds; 0 without any.
		 */
		private static function read_delay( $value ) {
			return is_numeric( $value ) ? max( 0, (int) ceil( (float) $value ) ) : max( 0, (int) strtotime( $value ) - time() );
		}

		/**
		 * Why there is no reply.
		 *
		 * @param WP_Error $error The failure.
		 * @return array
		 */
		private static function describe_failure( $error ) {
			$reason = 'http_request_not_executed' === $error->get_error_code() && defined( 'WP_HTTP_BLOCK_EXTERNAL' )
				? __( 'WordPress may not reach the Worker: WP_HTTP_BLOCK_EXTERNAL is set in wp-config.php. Add the Worker\'s host to WP_ACCESSIBLE_HOSTS.', 'sluice-preload' )
				/* translators: %s: the reason in English. */
				: sprintf( __( 'The Worker does not answer: %s', 'sluice-preload' ), $error->get_error_message() );
			return array(
				'status'      => 0,
				'reason'      => $reason,
				'retry_after' => 0,
				'body'        => array(),
			);
		}
	}

	/**
	 * How the last deliveries went. Read past all caches: a sender lives for seconds while others change it.
	 */
	final class Sluice_Preload_State {
		const OPTION     = 'sluice_preload_state';
		const MAX_ERRORS = 5;
		const START      = array(
			'failures'      => 0,
			'retry_at'      => 0,
			'failing_since' => 0,
			'stopped'       => '',
			'stopped_by'    => '',
			'errors'        => array(),
			'agent'         => '',
			'tested_at'     => 0,
		);

		/**
		 * Loads the state.
		 *
		 * @return array
		 */
		public static function load() {
			global $wpdb;
			// phpcs:ignore WordPress.DB.DirectDatabaseQuery -- caches of this process may be old.
			$text   = $wpdb->get_var( $wpdb->prepare( "SELECT option_value FROM $wpdb->options WHERE option_name = %s", self::OPTION ) );
			$stored = null === $text ? array() : maybe_unserialize( $text );
			return ( is_array( $stored ) ? $stored : array() ) + self::START;
		}

		/**
		 * Stores the state.
		 *
		 * @param array $state As load returns it.
		 */
		public static function store( $state ) {
			wp_cache_delete( self::OPTION, 'options' );
			update_option( self::OPTION, $state, false );
		}

		/**
		 * Notes that the Worker took something.
		 */
		public static function succeed() {
			$state = self::load();
			if ( $state['failures'] || $state['retry_at'] || $state['stopped'] ) {
				self::store( self::forget_failures( $state ) );
			}
		}

		/**
		 * Notes that an administrator's test of the connection succeeded: what waits is sent now, and a request that began
		 * before and fails later does not change that.
		 */
		public static function confirm() {
			self::store( array( 'tested_at' => microtime( true ) ) + self::forget_failures( self::load() ) );
		}

		/**
		 * Whether a test of the connection has succeeded since then.
		 *
		 * @param float $time Unix time.
		 * @return bool
		 */
		public static function is_confirmed_since( $time ) {
			$state = self::load();
			return $state['tested_at'] > $time;
		}

		/**
		 * A state without failures.
		 *
		 * @param array $state The state.
		 * @return array
		 */
		private static function forget_failures( $state ) {
			return array_intersect_key( $state, array_flip( array( 'errors', 'agent', 'tested_at' ) ) ) + self::START;
		}

		/**
		 * Notes a failure and when to try again: after 5 s, then twice as long each time, at most 60 s.
		 *
		 * @param string $reason  Why.
		 * @param int    $wait_s  What the Worker asked for; 0 if nothing.
		 * @param bool   $is_fault Whether it counts as a failure; a rate limit does not.
		 */
		public static function fail( $reason, $wait_s, $is_fault = true ) {
			$state = self::add_error( self::load(), $reason );
			if ( $is_fault ) {
				++$state['failures'];
			}
			$backoff_s              = $is_fault ? min( 60, 5 * pow( 2, min( 10, $state['failures'] - 1 ) ) ) : 5;
			$state['retry_at']      = microtime( true ) + ( $wait_s > 0 ? min( 3600, $wait_s ) : $backoff_s );
			$state['failing_since'] = $state['failing_since'] ? $state['failing_since'] : time();
			self::store( $state );
		}

		/**
		 * Notes that the Worker refuses the key. Nothing is sent until that changes.
		 *
		 * @param string $reason Why.
		 */
		public static function stop( $reason ) {
			$state               = self::add_error( self::load(), $reason );
			$state['stopped']    = $reason;
			$state['stopped_by'] = Sluice_Preload_Settings::fingerprint();
			self::store( $state );
		}

		/**
		 * Why nothing is sent; empty unless the key that is set now was refused.
		 *
		 * @return string
		 */
		public static function get_stop_reason() {
			$state = self::load();
			return Sluice_Preload_Settings::fingerprint() === $state['stopped_by'] ? (string) $state['stopped'] : '';
		}

		/**
		 * Notes an error for the settings page.
		 *
		 * @param array  $state  The state.
		 * @param string $reason What happened.
		 * @return array
		 */
		public static function add_error( $state, $reason ) {
			array_unshift(
				$state['errors'],
				array(
					'at'     => time(),
					'reason' => $reason,
				)
			);
			$state['errors'] = array_slice( $state['errors'], 0, self::MAX_ERRORS );
			return $state;
		}
	}

	/**
	 * What is to be purged and warmed, and the requests that this takes.
	 */
	final class Sluice_Preload_Change {
		const MAX_TAGS     = 30;
		const MAX_URLS     = 100;
		const MAX_PURGES   = 3; // More than these become one purge of everything.
		const MAX_PRELOADS = 3; // More pages than these hold are left to the sitemap.

		/**
		 * Purge of everything: 0 none, 1 soft, 2 hard.
		 *
		 * @var int
		 */
		private $everything = 0;

		/**
		 * Tags and URLs to purge; the value says whether the purge is hard.
		 *
		 * @var array
		 */
		private $purges = array(
			'tags' => array(),
			'urls' => array(),
		);

		/**
		 * URLs to warm, as keys.
		 *
		 * @var array
		 */
		private $warm = array();

		/**
		 * Adds a purge of everything.
		 *
		 * @param bool $hard Whether old copies may not even be served while the origin fails.
		 */
		public function add_everything( $hard = false ) {
			$this->everything = max( $this->everything, $hard ? 2 : 1 );
		}

		/**
		 * Adds tags to purge.
		 *
		 * @param string[] $tags The tags.
		 * @param bool     $hard As for add_everything.
		 */
		public function add_tags( $tags, $hard = false ) {
			$this->add_purges( 'tags', $tags, $hard );
		}

		/**
		 * Adds URLs to purge; those of other hosts are left out.
		 *
		 * @param string[] $urls The URLs.
		 * @param bool     $hard As for add_everything.
		 */
		public function add_urls( $urls, $hard = false ) {
			$this->add_purges( 'urls', array_filter( $urls, array( __CLASS__, 'is_own_url' ) ), $hard );
		}

		/**
		 * Adds URLs to warm; those of other hosts are left out.
		 *
		 * @param string[] $urls The URLs.
		 */
		public function add_warm( $urls ) {
			$this->warm += array_fill_keys( array_filter( $urls, array( __CLASS__, 'is_own_url' ) ), true );
		}

		/**
		 * Whether there is nothing to do.
		 *
		 * @return bool
		 */
		public function is_empty() {
			return ! $this->everything && ! $this->purges['tags'] && ! $this->purges['urls'] && ! $this->warm;
		}

		/**
		 * As a value that can be stored.
		 *
		 * @return array
		 */
		public function as_array() {
			return array(
				'everything' => $this->everything,
				'tags'       => $this->purges['tags'],
				'urls'       => $this->purges['urls'],
				'warm'       => array_keys( $this->warm ),
			);
		}

		/**
		 * Adds a stored change.
		 *
		 * @param array $stored As as_array returns it.
		 */
		public function merge_change( $stored ) {
			$this->everything = max( $this->everything, (int) $stored['everything'] );
			foreach ( array( 'tags', 'urls' ) as $kind ) {
				foreach ( $stored[ $kind ] as $name => $hard ) {
					$this->add_purges( $kind, array( (string) $name ), (bool) $hard );
				}
			}
			$this->warm += array_fill_keys( $stored['warm'], true );
		}

		/**
		 * Adds a request that was made of changes before and never sent.
		 *
		 * @param string $kind purge or preload.
		 * @param array  $body Its body.
		 */
		public function merge_request( $kind, $body ) {
			if ( 'preload' === $kind ) {
				$this->warm += array_fill_keys( $body['urls'], true );
				return;
			}
			$hard = empty( $body['soft'] );
			if ( ! empty( $body['global'] ) ) {
				$this->add_everything( $hard );
			}
			foreach ( array( 'tags', 'urls' ) as $part ) {
				$this->add_purges( $part, isset( $body[ $part ] ) ? $body[ $part ] : array(), $hard );
			}
		}

		/**
		 * The requests that carry this out, in order: kind and body.
		 *
		 * @return array[]
		 */
		public function build_requests() {
			$requests = $this->build_purges();
			$urls     = array_keys( $this->warm );
			if ( count( $urls ) > self::MAX_PRELOADS * self::MAX_URLS ) {
				$requests[] = array( 'sitemap', array( 'url' => sluice_preload_get_sitemap_url() ) );
				$urls       = array_slice( $urls, 0, ( self::MAX_PRELOADS - 1 ) * self::MAX_URLS );
			}
			foreach ( array_chunk( $urls, self::MAX_URLS ) as $part ) {
				$requests[] = array(
					'preload',
					array(
						'urls'    => $part,
						'trigger' => 'post-purge',
					),
				);
			}
			return $requests;
		}

		/**
		 * The purges: by tag and URL, or everything if that takes fewer requests.
		 *
		 * @return array[]
		 */
		private function build_purges() {
			$hard = $this->build_partial_purges( true );
			$soft = $this->build_partial_purges( false );
			if ( ! $this->everything && count( $hard ) + count( $soft ) <= self::MAX_PURGES ) {
				return array_merge( $hard, $soft );
			}
			$everything = array( 'global' => true );
			if ( 2 === $this->everything || count( $hard ) >= self::MAX_PURGES || ( ! $this->everything && $hard ) ) {
				return array( array( 'purge', $everything ) );
			}
			return array_merge( $hard, array( array( 'purge', $everything + array( 'soft' => true ) ) ) );
		}

		/**
		 * The purges of one kind, each with as many tags and URLs as it may have.
		 *
		 * @param bool $hard Which kind.
		 * @return array[]
		 */
		private function build_partial_purges( $hard ) {
			$tags     = array_chunk( array_map( 'strval', array_keys( $this->purges['tags'], $hard, true ) ), self::MAX_TAGS );
			$urls     = array_chunk( array_map( 'strval', array_keys( $this->purges['urls'], $hard, true ) ), self::MAX_URLS );
			$requests = array();
			for ( $part = 0, $parts = max( count( $tags ), count( $urls ) ); $part < $parts; $part++ ) {
				$body       = array_filter(
					array(
						'tags' => isset( $tags[ $part ] ) ? $tags[ $part ] : array(),
						'urls' => isset( $urls[ $part ] ) ? $urls[ $part ] : array(),
						'soft' => ! $hard,
					)
				);
				$requests[] = array( 'purge', $body );
			}
			return $requests;
		}

		/**
		 * Adds names to purge; once hard, always hard.
		 *
		 * @param string   $kind  tags or urls.
		 * @param string[] $names The names.
		 * @param bool     $hard  Whether hard.
		 */
		private function add_purges( $kind, $names, $hard ) {
			foreach ( $names as $name ) {
				$this->purges[ $kind ][ $name ] = $hard || ! empty( $this->purges[ $kind ][ $name ] );
			}
		}

		/**
		 * Whether a URL belongs to this site: the Worker refuses a whole request for one that does not.
		 *
		 * @param mixed $url The URL.
		 * @return bool
		 */
		public static function is_own_url( $url ) {
			return is_string( $url ) && strlen( $url ) <= 2048 && self::get_authority( $url ) === self::get_authority( home_url( '/' ) );
		}

		/**
		 * Host and port of a URL; empty for anything else.
		 *
		 * @param string $url The URL.
		 * @return string
		 */
		private static function get_authority( $url ) {
			$parts = wp_parse_url( $url );
			if ( ! is_array( $parts ) || empty( $parts['host'] ) || empty( $parts['scheme'] ) || ! in_array( $parts['scheme'], array( 'http', 'https' ), true ) ) {
				return '';
			}
			return strtolower( $parts['host'] ) . ( isset( $parts['port'] ) ? ':' . $parts['port'] : '' );
		}
	}

	/**
	 * What waits to be sent, in a table of its own: an option written by two requests would lose events.
	 */
	final class Sluice_Preload_Outbox {
		const VERSION        = '2';
		const VERSION_OPTION = 'sluice_preload_db_version';
		const ASIDE_KEPT_S   = 604800;
		const MAX_MERGED     = 1000;

		/**
		 * The table's name.
		 *
		 * @return string
		 */
		public static function get_table() {
			global $wpdb;
			return $wpdb->prefix . 'sluice_preload_outbox';
		}

		/**
		 * Creates the table, or gives the table of an earlier version its new columns; its rows stay. A must-use plugin has
		 * no activation hook, so this also runs before the first row.
		 */
		public static function create() {
			global $wpdb;
			require_once ABSPATH . 'wp-admin/includes/upgrade.php';
			$table = self::get_table();
			$lock  = self::get_lock_name() . '_table';
			// Two requests that add the same column at once would leave an error in the log.
			$wpdb->get_var( $wpdb->prepare( 'SELECT GET_LOCK(%s, 5)', $lock ) ); // phpcs:ignore WordPress.DB.DirectDatabaseQuery -- as lock.
			dbDelta(
				"CREATE TABLE $table (
					id bigint(20) unsigned NOT NULL AUTO_INCREMENT,
					kind varchar(16) NOT NULL,
					body longtext NOT NULL,
					idempotency_key varchar(64) NOT NULL DEFAULT '',
					attempts int(10) unsigned NOT NULL DEFAULT 0,
					state varchar(8) NOT NULL DEFAULT 'waiting',
					reason text NULL,
					created_at bigint(20) unsigned NOT NULL,
					due_at bigint(20) unsigned NOT NULL DEFAULT 0,
					PRIMARY KEY  (id),
					KEY state (state,kind)
				) {$wpdb->get_charset_collate()};"
			);
			$wpdb->get_var( $wpdb->prepare( 'SELECT RELEASE_LOCK(%s)', $lock ) ); // phpcs:ignore WordPress.DB.DirectDatabaseQuery -- as lock.
			update_option( self::VERSION_OPTION, self::VERSION );
		}

		/**
		 * Brings the table of an earlier version up to date; where there is none, the first row creates it.
		 */
		public static function upgrade() {
			$version = get_option( self::VERSION_OPTION );
			if ( false !== $version && self::VERSION !== $version && ! wp_installing() ) {
				self::create();
			}
		}

		/**
		 * Adds a row.
		 *
		 * @param string $kind       change, purge, preload, sitemap or agent.
		 * @param array  $body       What it is about.
		 * @param int    $created_at When it happened; now if left out.
		 */
		public static function add( $kind, $body, $created_at = 0 ) {
			global $wpdb;
			if ( self::VERSION !== get_option( self::VERSION_OPTION ) ) {
				self::create();
			}
			// phpcs:ignore WordPress.DB.DirectDatabaseQuery -- a table of its own.
			$wpdb->insert(
				self::get_table(),
				array(
					'kind'            => $kind,
					'body'            => wp_json_encode( $body, JSON_UNESCAPED_SLASHES ),
					'idempotency_key' => 'change' === $kind ? '' : $kind . '-' . wp_generate_uuid4(),
					'created_at'      => $created_at ? $created_at : time(),
				)
			);
		}

		/**
		 * The next request to send; null when there is none. Changes are made into as few requests as possible first.
		 *
		 * @return object|null
		 */
		public static function get_next() {
			global $wpdb;
			self::merge_changes();
			$table = self::get_table();
			// phpcs:ignore WordPress.DB -- the name is this plugin's own.
			return $wpdb->get_row( $wpdb->prepare( "SELECT * FROM $table WHERE state = 'waiting' AND kind <> 'change' AND due_at <= %d ORDER BY attempts = 0, id LIMIT 1", time() ) );
		}

		/**
		 * When the next row is due; null when none waits.
		 *
		 * @return int|null Unix time; 0 for a row that is due anyway.
		 */
		public static function find_due_time() {
			global $wpdb;
			if ( self::VERSION !== get_option( self::VERSION_OPTION ) ) {
				return null;
			}
			$table = self::get_table();
			// phpcs:ignore WordPress.DB -- the name is this plugin's own.
			$due_at = $wpdb->get_var( "SELECT MIN(due_at) FROM $table WHERE state = 'waiting'" );
			return null === $due_at ? null : (int) $due_at;
		}

		/**
		 * Makes requests of all changes, and of the requests that were never tried: one that was tried keeps its key and body.
		 */
		public static function merge_changes() {
			global $wpdb;
			$table = self::get_table();
			// phpcs:disable WordPress.DB -- the name is this plugin's own, the ids are numbers.
			$rows = $wpdb->get_results(
				$wpdb->prepare( "SELECT * FROM $table WHERE state = 'waiting' AND attempts = 0 AND kind IN ('change', 'purge', 'preload') ORDER BY id LIMIT %d", self::MAX_MERGED )
			);
			if ( ! in_array( 'change', wp_list_pluck( $rows, 'kind' ), true ) ) {
				return;
			}
			$change = new Sluice_Preload_Change();
			foreach ( $rows as $row ) {
				$body = json_decode( $row->body, true );
				if ( 'change' === $row->kind ) {
					$change->merge_change( $body );
				} else {
					$change->merge_request( $row->kind, $body );
				}
			}
			$wpdb->query( 'START TRANSACTION' );
			foreach ( $change->build_requests() as $request ) {
				if ( ! self::is_postponed( $request[0], $request[1] ) ) {
					self::add( $request[0], $request[1], (int) $rows[0]->created_at );
				}
			}
			$wpdb->query( "DELETE FROM $table WHERE id IN (" . implode( ',', array_map( 'intval', wp_list_pluck( $rows, 'id' ) ) ) . ')' );
			$wpdb->query( 'COMMIT' );
			// phpcs:enable
		}

		/**
		 * Deletes a row that arrived.
		 *
		 * @param int $id The row.
		 */
		public static function remove( $id ) {
			global $wpdb;
			// phpcs:ignore WordPress.DB.DirectDatabaseQuery -- a table of its own.
			$wpdb->delete( self::get_table(), array( 'id' => $id ) );
		}

		/**
		 * Counts an attempt, before it is made.
		 *
		 * @param int $id The row.
		 */
		public static function begin_attempt( $id ) {
			global $wpdb;
			$table = self::get_table();
			// phpcs:ignore WordPress.DB -- the name is this plugin's own.
			$wpdb->query( $wpdb->prepare( "UPDATE $table SET attempts = attempts + 1 WHERE id = %d", $id ) );
		}

		/**
		 * Has a row wait, and no other one.
		 *
		 * @param int $id     The row.
		 * @param int $wait_s For how long.
		 */
		public static function postpone( $id, $wait_s ) {
			global $wpdb;
			// phpcs:ignore WordPress.DB.DirectDatabaseQuery -- a table of its own.
			$wpdb->update( self::get_table(), array( 'due_at' => time() + $wait_s ), array( 'id' => $id ) );
		}

		/**
		 * Whether the same request waits already: the Worker has not taken it, so it will do for this one, too.
		 *
		 * @param string $kind The kind.
		 * @param array  $body The body.
		 * @return bool
		 */
		private static function is_postponed( $kind, $body ) {
			global $wpdb;
			$table = self::get_table();
			// phpcs:ignore WordPress.DB -- the name is this plugin's own.
			return (bool) $wpdb->get_var( $wpdb->prepare( "SELECT id FROM $table WHERE state = 'waiting' AND due_at > %d AND kind = %s AND body = %s LIMIT 1", time(), $kind, wp_json_encode( $body, JSON_UNESCAPED_SLASHES ) ) );
		}

		/**
		 * Sets a row aside that the Worker will never take.
		 *
		 * @param int    $id     The row.
		 * @param string $reason Why.
		 */
		public static function set_aside( $id, $reason ) {
			global $wpdb;
			// phpcs:ignore WordPress.DB.DirectDatabaseQuery -- a table of its own.
			$wpdb->update(
				self::get_table(),
				array(
					'state'  => 'aside',
					'reason' => $reason,
				),
				array( 'id' => $id )
			);
		}

		/**
		 * Deletes rows that were set aside a week ago.
		 */
		public static function forget_old() {
			global $wpdb;
			$table = self::get_table();
			// phpcs:ignore WordPress.DB -- the name is this plugin's own.
			$wpdb->query( $wpdb->prepare( "DELETE FROM $table WHERE state = 'aside' AND created_at < %d", time() - self::ASIDE_KEPT_S ) );
		}

		/**
		 * How many rows wait, since when, and how many were set aside.
		 *
		 * @return array
		 */
		public static function count() {
			global $wpdb;
			if ( self::VERSION !== get_option( self::VERSION_OPTION ) ) {
				return array(
					'waiting' => 0,
					'oldest'  => 0,
					'aside'   => 0,
					'reason'  => '',
				);
			}
			$table = self::get_table();
			// phpcs:ignore WordPress.DB -- the name is this plugin's own.
			$row = $wpdb->get_row( "SELECT SUM(state = 'waiting') AS waiting, MIN(CASE WHEN state = 'waiting' THEN created_at END) AS oldest, SUM(state = 'aside') AS aside, MAX(reason) AS reason FROM $table" );
			return array(
				'waiting' => $row ? (int) $row->waiting : 0,
				'oldest'  => $row ? (int) $row->oldest : 0,
				'aside'   => $row ? (int) $row->aside : 0,
				'reason'  => $row ? (string) $row->reason : '',
			);
		}

		/**
		 * Takes the lock of the one sender. It ends with the connection, so a sender that dies blocks nobody.
		 *
		 * @return bool
		 */
		public static function lock() {
			global $wpdb;
			// phpcs:ignore WordPress.DB.DirectDatabaseQuery -- a lock is not cached. A database without locks may send twice, which the idempotency keys make harmless.
			return '0' !== (string) $wpdb->get_var( $wpdb->prepare( 'SELECT GET_LOCK(%s, 0)', self::get_lock_name() ) );
		}

		/**
		 * Gives the lock back.
		 */
		public static function unlock() {
			global $wpdb;
			// phpcs:ignore WordPress.DB.DirectDatabaseQuery -- as lock.
			$wpdb->get_var( $wpdb->prepare( 'SELECT RELEASE_LOCK(%s)', self::get_lock_name() ) );
		}

		/**
		 * Whether a sender is at work.
		 *
		 * @return bool
		 */
		public static function is_locked() {
			global $wpdb;
			// phpcs:ignore WordPress.DB.DirectDatabaseQuery -- as lock.
			return '0' === (string) $wpdb->get_var( $wpdb->prepare( 'SELECT IS_FREE_LOCK(%s)', self::get_lock_name() ) );
		}

		/**
		 * The lock's name: locks belong to the database server, which may have many sites.
		 *
		 * @return string
		 */
		private static function get_lock_name() {
			return 'sluice_preload_' . md5( DB_NAME . "\n" . self::get_table() );
		}
	}

	/**
	 * Delivers what waits in the outbox, after the response, in a request of its own or by cron.
	 */
	final class Sluice_Preload_Sender {
		const HOOK         = 'sluice_preload_send';
		const SCHEDULE     = 'sluice_preload_minute';
		const QUERY        = 'sluice_preload_send';
		const RUN_S        = 25;    // Many hosts end a request after 30 s.
		const MAX_WAIT_S   = 60;    // Longer waits are left to cron.
		const CHAIN_S      = 3600;  // After an hour of failures only cron tries again.
		const MAX_ATTEMPTS = 10;    // Of a row that makes the Worker fail, while it takes others.
		const NEVER_TAKEN  = array( 400, 409, 413, 415, 422 );

		/**
		 * Registers the hooks.
		 */
		public static function register() {
			add_action( 'init', array( __CLASS__, 'handle_wake' ), 0 );
			add_action( self::HOOK, array( __CLASS__, 'handle_cron' ) );
			add_filter( 'cron_schedules', array( __CLASS__, 'add_schedule' ) ); // phpcs:ignore WordPress.WP.CronInterval -- retries are at most a minute apart.
		}

		/**
		 * Adds the interval of a minute.
		 *
		 * @param array $schedules The intervals.
		 * @return array
		 */
		public static function add_schedule( $schedules ) {
			$schedules[ self::SCHEDULE ] = array(
				'interval' => 60,
				'display'  => did_action( 'init' ) ? __( 'Once a minute', 'sluice-preload' ) : 'Once a minute', // Texts are loaded by then.
			);
			return $schedules;
		}

		/**
		 * Sends what is due, and starts no chain: the next minute comes anyway.
		 */
		public static function handle_cron() {
			Sluice_Preload_Outbox::forget_old();
			self::run( false );
		}

		/**
		 * Answers a request that this site sent to itself.
		 */
		public static function handle_wake() {
			// phpcs:disable WordPress.Security.NonceVerification -- the token is checked instead: nobody is logged in here.
			if ( ! isset( $_GET[ self::QUERY ] ) || ! is_string( $_GET[ self::QUERY ] ) ) {
				return;
			}
			list( $time, $token ) = array_pad( explode( '.', sanitize_text_field( wp_unslash( $_GET[ self::QUERY ] ) ), 2 ), 2, '' );
			// phpcs:enable
			if ( ! hash_equals( self::create_token( $time ), $token ) || abs( time() - (int) $time ) > 60 ) {
				status_header( 403 );
				nocache_headers();
				exit;
			}
			ignore_user_abort( true );
			nocache_headers();
			self::run( true );
			exit;
		}

		/**
		 * Has the outbox sent without making anybody wait.
		 */
		public static function start() {
			if ( ! Sluice_Preload_Settings::is_complete() || Sluice_Preload_Outbox::is_locked() ) {
				return;
			}
			if ( self::finish_request() ) {
				self::run( true );
			} elseif ( ! self::wake() && 'cli' === PHP_SAPI ) {
				self::run( false );
			}
		}

		/**
		 * Has the outbox sent when this request ends.
		 */
		public static function start_at_shutdown() {
			if ( ! has_action( 'shutdown', array( __CLASS__, 'start' ) ) ) {
				add_action( 'shutdown', array( __CLASS__, 'start' ), PHP_INT_MAX );
			}
		}

		/**
		 * Sends what is due.
		 *
		 * @param bool $may_wait Whether to stay for retries, and to have a successor continue.
		 */
		public static function run( $may_wait ) {
			if ( ! Sluice_Preload_Settings::is_complete() || ! Sluice_Preload_Outbox::lock() ) {
				return;
			}
			$end    = microtime( true ) + self::RUN_S;
			$wait_s = self::drain( $end );
			while ( $may_wait && null !== $wait_s && $wait_s <= self::MAX_WAIT_S && microtime( true ) < $end ) {
				// A second at most: somebody may have tested the connection meanwhile.
				usleep( (int) ( 1e6 * max( 0.05, min( $wait_s, 1, $end - microtime( true ) ) ) ) );
				$wait_s = self::drain( $end );
			}
			Sluice_Preload_Outbox::unlock();
			// A row that came between the last look and the end of the lock counts, too.
			$wait_s = self::find_wait();
			if ( null !== $wait_s && $wait_s <= ( $may_wait ? self::MAX_WAIT_S : 0 ) && ! self::is_hopeless() ) {
				self::wake();
			}
		}

		/**
		 * Sends until nothing is left or something fails.
		 *
		 * @param float $end When to stop at the latest.
		 * @return float|null As find_wait.
		 */
		private static function drain( $end ) {
			$wait_s = self::find_wait();
			while ( null !== $wait_s && $wait_s <= 0 && microtime( true ) < $end ) {
				$row = Sluice_Preload_Outbox::get_next();
				if ( $row ) {
					self::deliver( $row );
				}
				$wait_s = self::find_wait();
			}
			if ( '' !== Sluice_Preload_State::get_stop_reason() ) {
				Sluice_Preload_Outbox::merge_changes(); // Months of changes stay a few rows.
			}
			return $wait_s;
		}

		/**
		 * Seconds until there is something to send; null when nothing waits, or nothing may be sent.
		 *
		 * @return float|null
		 */
		private static function find_wait() {
			$due_at = Sluice_Preload_Outbox::find_due_time();
			if ( null === $due_at || '' !== Sluice_Preload_State::get_stop_reason() ) {
				return null;
			}
			$state = Sluice_Preload_State::load();
			return max( 0.0, max( (float) $due_at, (float) $state['retry_at'] ) - microtime( true ) );
		}

		/**
		 * Whether the Worker has failed for so long that only cron tries again.
		 *
		 * @return bool
		 */
		private static function is_hopeless() {
			$state = Sluice_Preload_State::load();
			return $state['failing_since'] && time() - $state['failing_since'] >= self::CHAIN_S;
		}

		/**
		 * Sends one row and does what the reply asks for.
		 *
		 * @param object $row The row.
		 */
		private static function deliver( $row ) {
			$began_at = microtime( true );
			Sluice_Preload_Outbox::begin_attempt( $row->id );
			$reply = self::send( $row );
			if ( 409 === $reply['status'] ) {
				$reply = self::send( $row ); // Signed anew with a fresh nonce.
			}
			$status = $reply['status'];
			if ( $status >= 200 && $status < 300 ) {
				Sluice_Preload_Outbox::remove( $row->id );
				Sluice_Preload_State::succeed();
				if ( 'agent' === $row->kind ) {
					Sluice_Preload_State::store( array( 'agent' => Sluice_Preload_Settings::fingerprint() ) + Sluice_Preload_State::load() );
				}
				return;
			}
			// Then the row stays due at once.
			$is_outdated = Sluice_Preload_State::is_confirmed_since( $began_at );
			if ( 401 === $status ) {
				if ( ! $is_outdated ) {
					Sluice_Preload_State::stop( $reply['reason'] );
				}
				return;
			}
			$is_poison = 500 === $status && $row->attempts >= self::MAX_ATTEMPTS;
			if ( $is_poison || in_array( $status, self::NEVER_TAKEN, true ) ) {
				Sluice_Preload_Outbox::set_aside( $row->id, $reply['reason'] );
				Sluice_Preload_State::store( Sluice_Preload_State::add_error( Sluice_Preload_State::load(), $reply['reason'] ) );
				return;
			}
			if ( 429 === $status && $reply['retry_after'] > self::MAX_WAIT_S ) {
				// Not the rate of all requests but a quota of this kind: purges of everything have one for an hour. Others go on.
				Sluice_Preload_Outbox::postpone( $row->id, min( HOUR_IN_SECONDS, $reply['retry_after'] ) );
				Sluice_Preload_State::store( Sluice_Preload_State::add_error( Sluice_Preload_State::load(), $reply['reason'] ) );
				return;
			}
			if ( 429 === $status || ! $is_outdated ) {
				Sluice_Preload_State::fail( $reply['reason'], in_array( $status, array( 429, 503 ), true ) ? $reply['retry_after'] : 0, 429 !== $status );
			}
		}

		/**
		 * Sends one row.
		 *
		 * @param object $row The row.
		 * @return array As Sluice_Preload_Client::request returns it.
		 */
		private static function send( $row ) {
			$body = array(
				'zone_id'         => Sluice_Preload_Settings::get( 'zone_id' ),
				'idempotency_key' => $row->idempotency_key,
			) + json_decode( $row->body, true );
			if ( isset( $body['urls'] ) ) {
				// The site may have moved since the row was written.
				$body['urls'] = array_values( array_filter( $body['urls'], array( 'Sluice_Preload_Change', 'is_own_url' ) ) );
				if ( ! $body['urls'] && empty( $body['tags'] ) && empty( $body['global'] ) ) {
					return array(
						'status'      => 200,
						'reason'      => '',
						'retry_after' => 0,
					);
				}
			}
			if ( 'agent' === $row->kind ) {
				return Sluice_Preload_Client::request( 'PUT', Sluice_Preload_Client::get_zone_path( 'agent' ), $body );
			}
			$path = 'sitemap' === $row->kind ? Sluice_Preload_Client::get_zone_path( 'sitemap' ) : '/api/v1/' . $row->kind;
			return Sluice_Preload_Client::request( 'POST', $path, $body );
		}

		/**
		 * Sends the response to whoever waits for it, where PHP can do that.
		 *
		 * @return bool
		 */
		private static function finish_request() {
			if ( function_exists( 'session_status' ) && PHP_SESSION_ACTIVE === session_status() ) {
				session_write_close();
			}
			if ( function_exists( 'fastcgi_finish_request' ) ) {
				return fastcgi_finish_request();
			}
			return function_exists( 'litespeed_finish_request' ) && litespeed_finish_request();
		}

		/**
		 * Asks this site for a request that sends. A socket is closed as soon as the request is written; wp_remote_post
		 * would wait for up to a second even if it is not "blocking".
		 *
		 * @return bool Whether the request was written.
		 */
		public static function wake() {
			$home   = wp_parse_url( home_url( '/' ) );
			$target = self::find_own_server( $home );
			$socket = @stream_socket_client( // phpcs:ignore WordPress.PHP.NoSilencedErrors -- a server that cannot reach itself is left to cron.
				$target['socket'],
				$error_code,
				$error_text,
				0.3,
				STREAM_CLIENT_CONNECT,
				stream_context_create(
					array(
						'ssl' => array(
							// The server asks itself, by its address.
							'verify_peer'      => false,
							'verify_peer_name' => false,
							'peer_name'        => $home['host'],
						),
					)
				)
			);
			if ( ! $socket ) {
				return false;
			}
			$time    = (string) time();
			$path    = ( isset( $home['path'] ) ? $home['path'] : '/' ) . '?' . self::QUERY . '=' . $time . '.' . self::create_token( $time );
			$host    = $home['host'] . ( isset( $home['port'] ) ? ':' . $home['port'] : '' );
			$request = "POST $path HTTP/1.1\r\nHost: $host\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
			$written = fwrite( $socket, $request ); // phpcs:ignore WordPress.WP.AlternativeFunctions -- a socket is no file.
			// A server that accepts connections while it reads others takes this one up before the next visitor's.
			usleep( 5000 );
			fclose( $socket ); // phpcs:ignore WordPress.WP.AlternativeFunctions -- as above.
			return strlen( $request ) === $written;
		}

		/**
		 * Where this server is reached: as the last request reached it, else at its public address.
		 *
		 * @param array $home The parts of the site's address.
		 * @return array
		 */
		private static function find_own_server( $home ) {
			$own = Sluice_Preload_Proxy::get_own_address();
			$own = $own ? $own : get_option( 'sluice_preload_own_address' );
			if ( ! is_array( $own ) || empty( $own['address'] ) ) {
				$tls = 'https' === $home['scheme'];
				$own = array(
					'address' => $home['host'],
					'port'    => isset( $home['port'] ) ? $home['port'] : ( $tls ? 443 : 80 ),
					'tls'     => $tls,
				);
			}
			$address = false === strpos( $own['address'], ':' ) ? $own['address'] : '[' . $own['address'] . ']';
			return array( 'socket' => ( $own['tls'] ? 'tls://' : 'tcp://' ) . $address . ':' . $own['port'] );
		}

		/**
		 * Proves that a request comes from this site.
		 *
		 * @param string $time Unix time.
		 * @return string
		 */
		private static function create_token( $time ) {
			return hash_hmac( 'sha256', self::QUERY . "\n" . $time, wp_salt( 'nonce' ) );
		}
	}

	/**
	 * Which pages show a post or a term, and the tags of these pages.
	 */
	final class Sluice_Preload_Site {
		// A term of more posts is not a tag of each of them: a new post would purge them all. Its own change purges everything.
		const MAX_TERM_POSTS = 50;
		const FIRST_PAGES    = 3;
		const MAX_LINKS      = 20;
		// Posts of these types are parts of many pages.
		const PARTS = array( 'wp_template', 'wp_template_part', 'wp_navigation', 'wp_global_styles', 'wp_block', 'custom_css' );

		/**
		 * Whether visitors see posts of this type at addresses of their own.
		 *
		 * @param WP_Post|null $post The post.
		 * @return bool
		 */
		public static function is_page( $post ) {
			return $post instanceof WP_Post && 'attachment' !== $post->post_type && is_post_type_viewable( $post->post_type );
		}

		/**
		 * Whether a post is there for visitors.
		 *
		 * @param WP_Post|null $post The post.
		 * @return bool
		 */
		public static function is_published( $post ) {
			return self::is_page( $post ) && 'publish' === $post->post_status;
		}

		/**
		 * The tags of the listings that a post is on, or would be on.
		 *
		 * @param WP_Post $post The post.
		 * @return string[]
		 */
		public static function get_listing_tags( $post ) {
			$tags = array( 'home', 'search', 'sitemap', 'list-' . $post->post_type, 'any-' . $post->post_type, 'list-author-' . $post->post_author );
			foreach ( self::get_terms( $post ) as $term ) {
				$tags[] = 'term-' . $term->term_id;
				foreach ( get_ancestors( $term->term_id, $term->taxonomy, 'taxonomy' ) as $ancestor ) {
					$tags[] = 'term-' . $ancestor;
				}
			}
			return array_values( array_unique( $tags ) );
		}

		/**
		 * The listings that a post is on: their first pages and feeds.
		 *
		 * @param WP_Post $post The post.
		 * @return string[]
		 */
		public static function get_listing_urls( $post ) {
			$urls = array( home_url( '/' ) );
			if ( 'post' !== $post->post_type ) {
				$urls[] = get_post_type_archive_link( $post->post_type );
			} else {
				$blog  = (int) get_option( 'page_for_posts' );
				$blog  = $blog && 'page' === get_option( 'show_on_front' ) ? (string) get_permalink( $blog ) : home_url( '/' );
				$count = (int) wp_count_posts( 'post' )->publish;
				$date  = array_map( 'intval', explode( '-', substr( $post->post_date, 0, 10 ) ) );
				$urls  = array_merge( $urls, self::get_first_pages( $blog, $count ), array( get_feed_link(), get_author_posts_url( (int) $post->post_author ) ) );
				$urls  = array_merge( $urls, array( get_year_link( $date[0] ), get_month_link( $date[0], $date[1] ), get_day_link( $date[0], $date[1], $date[2] ) ) );
			}
			foreach ( array_slice( self::get_terms( $post ), 0, self::MAX_LINKS ) as $term ) {
				$urls = array_merge( $urls, self::get_term_urls( $term ) );
			}
			return array_values( array_unique( array_filter( $urls, 'is_string' ) ) );
		}

		/**
		 * The first pages of a term's archive, and its feed.
		 *
		 * @param WP_Term $term The term.
		 * @return string[]
		 */
		public static function get_term_urls( $term ) {
			$link = get_term_link( $term );
			if ( ! is_string( $link ) ) {
				return array();
			}
			return array_merge( self::get_first_pages( $link, (int) $term->count ), array_filter( array( get_term_feed_link( $term->term_id, $term->taxonomy ) ) ) );
		}

		/**
		 * The terms of a post that have archives.
		 *
		 * @param WP_Post $post The post.
		 * @return WP_Term[]
		 */
		public static function get_terms( $post ) {
			$found = array();
			foreach ( get_object_taxonomies( $post->post_type ) as $taxonomy ) {
				$terms = is_taxonomy_viewable( $taxonomy ) ? get_the_terms( $post, $taxonomy ) : array();
				$found = array_merge( $found, is_array( $terms ) ? $terms : array() );
			}
			return $found;
		}

		/**
		 * A listing's address and those of its next pages, as far as there are any.
		 *
		 * @param string $url   The listing.
		 * @param int    $count How many posts it has.
		 * @return string[]
		 */
		private static function get_first_pages( $url, $count ) {
			global $wp_rewrite;
			$urls  = array( $url );
			$pages = min( self::FIRST_PAGES, (int) ceil( $count / max( 1, (int) get_option( 'posts_per_page' ) ) ) );
			for ( $page = 2; $page <= $pages; $page++ ) {
				$urls[] = $wp_rewrite->using_permalinks()
					? trailingslashit( $url ) . user_trailingslashit( $wp_rewrite->pagination_base . '/' . $page, 'paged' )
					: add_query_arg( 'paged', $page, $url );
			}
			return $urls;
		}
	}

	/**
	 * Collects what happens in a request, and hands it to the outbox once, after the response.
	 */
	final class Sluice_Preload_Watcher {
		const OPTIONS        = array( 'blogname', 'blogdescription', 'posts_per_page', 'posts_per_rss', 'rss_use_excerpt', 'show_on_front', 'page_on_front', 'page_for_posts', 'date_format', 'time_format', 'timezone_string', 'gmt_offset', 'start_of_week', 'WPLANG', 'site_icon', 'site_logo', 'home', 'siteurl', 'blog_public', 'category_base', 'tag_base', 'sidebars_widgets', 'show_avatars', 'thread_comments', 'page_comments', 'comments_per_page', 'default_comments_page', 'comment_order', 'woocommerce_currency' );
		const MAX_NEIGHBOURS = 20; // Posts of one request whose neighbours are looked up: an import has many more.

		/**
		 * What is to be done; null until something happened.
		 *
		 * @var Sluice_Preload_Change|null
		 */
		private static $change = null;

		/**
		 * Posts that changed: whether listings change, too.
		 *
		 * @var bool[]
		 */
		private static $posts = array();

		/**
		 * Posts that this request published, as keys: no page can have their tags yet.
		 *
		 * @var bool[]
		 */
		private static $new_posts = array();

		/**
		 * Published posts as they were before this request touched them: address and tags of their listings.
		 *
		 * @var array[]
		 */
		private static $before = array();

		/**
		 * Addresses of terms before they changed.
		 *
		 * @var string[]
		 */
		private static $term_links = array();

		/**
		 * What this request collected for other sites of a network, by site.
		 *
		 * @var array[]
		 */
		private static $elsewhere = array();

		/**
		 * Registers the hooks.
		 */
		public static function register() {
			$hooks = array(
				// Posts.
				array( 'pre_post_update', 'remember_post', 1 ),
				array( 'wp_trash_post', 'remember_post', 1 ),
				array( 'before_delete_post', 'remember_post', 1 ),
				array( 'transition_post_status', 'handle_transition', 3 ),
				array( 'post_updated', 'handle_update', 3 ),
				array( 'deleted_post', 'handle_deletion', 2 ),
				array( 'clean_post_cache', 'handle_post_change', 1 ),
				array( 'set_object_terms', 'handle_post_terms', 6 ),
				array( 'added_post_meta', 'handle_meta', 3 ),
				array( 'updated_post_meta', 'handle_meta', 3 ),
				array( 'deleted_post_meta', 'handle_meta', 3 ),
				array( 'post_stuck', 'handle_listed_post', 1 ),
				array( 'post_unstuck', 'handle_listed_post', 1 ),
				array( 'edit_attachment', 'handle_attachment', 1 ),
				array( 'delete_attachment', 'handle_attachment', 1 ),
				// Shops change stock without any of the above.
				array( 'woocommerce_product_set_stock', 'handle_product', 1 ),
				array( 'woocommerce_variation_set_stock', 'handle_product', 1 ),
				array( 'woocommerce_product_set_stock_status', 'handle_product_id', 1 ),
				array( 'woocommerce_variation_set_stock_status', 'handle_product_id', 1 ),
				array( 'woocommerce_update_product', 'handle_product_id', 1 ),
				array( 'woocommerce_update_product_variation', 'handle_product_id', 1 ),
				// Comments.
				array( 'transition_comment_status', 'handle_comment_transition', 3 ),
				array( 'wp_insert_comment', 'handle_comment', 1 ),
				array( 'edit_comment', 'handle_comment', 1 ),
				array( 'delete_comment', 'handle_comment_deletion', 1 ),
				// Terms and people.
				array( 'edit_terms', 'remember_term', 2 ),
				array( 'created_term', 'handle_new_term', 3 ),
				array( 'edited_term', 'handle_term', 3 ),
				array( 'pre_delete_term', 'handle_term_deletion', 2 ),
				array( 'profile_update', 'handle_profile', 2 ),
				array( 'deleted_user', 'handle_gone_user', 1 ),
				// What every page shows.
				array( 'updated_option', 'handle_option', 3 ),
				array( 'added_option', 'handle_new_option', 2 ),
				array( 'deleted_option', 'handle_new_option', 1 ),
				array( 'wp_update_nav_menu_item', 'handle_menu_item', 1 ),
				array( 'permalink_structure_changed', 'purge_everything_hard', 0 ),
				array( 'upgrader_process_complete', 'handle_upgrade', 2 ),
			);
			foreach ( $hooks as $hook ) {
				add_action( $hook[0], array( __CLASS__, $hook[1] ), 10, $hook[2] );
			}
			foreach ( array( 'switch_theme', 'customize_save_after', 'wp_update_nav_menu', 'wp_delete_nav_menu', 'activated_plugin', 'deactivated_plugin' ) as $hook ) {
				add_action( $hook, array( __CLASS__, 'purge_everything' ), 10, 0 );
			}
			add_action( 'switch_blog', array( __CLASS__, 'handle_switch' ), 10, 2 );
			add_action( 'shutdown', array( __CLASS__, 'handle_shutdown' ), PHP_INT_MAX );
		}

		/**
		 * Another site of a network is worked on: what happens there is not this site's.
		 *
		 * @param int $new_site The site.
		 * @param int $old_site The site until now.
		 */
		public static function handle_switch( $new_site, $old_site ) {
			if ( (int) $new_site === (int) $old_site ) {
				return;
			}
			self::$elsewhere[ (int) $old_site ] = array( self::$change, self::$posts, self::$new_posts, self::$before, self::$term_links );
			$kept                               = array( null, array(), array(), array(), array() );
			if ( isset( self::$elsewhere[ (int) $new_site ] ) ) {
				$kept = self::$elsewhere[ (int) $new_site ];
			}
			unset( self::$elsewhere[ (int) $new_site ] );
			list( self::$change, self::$posts, self::$new_posts, self::$before, self::$term_links ) = $kept;
		}

		/**
		 * The change of this request, for whoever adds to it.
		 *
		 * @return Sluice_Preload_Change
		 */
		public static function get_change() {
			if ( null === self::$change ) {
				self::$change = new Sluice_Preload_Change();
			}
			return self::$change;
		}

		/**
		 * Purges everything; old copies may be served while the origin fails.
		 */
		public static function purge_everything() {
			self::get_change()->add_everything();
			self::get_change()->add_warm( array( home_url( '/' ) ) );
		}

		/**
		 * Purges everything: every address changes.
		 */
		public static function purge_everything_hard() {
			self::get_change()->add_everything( true );
			self::get_change()->add_warm( array( home_url( '/' ) ) );
		}

		/**
		 * Remembers a published post before it changes.
		 *
		 * @param int $post_id The post.
		 */
		public static function remember_post( $post_id ) {
			$post = get_post( $post_id );
			if ( isset( self::$before[ $post_id ] ) || ! self::is_published( $post ) ) {
				return;
			}
			self::$before[ $post_id ] = array(
				'url'  => (string) get_permalink( $post ),
				'tags' => Sluice_Preload_Site::get_listing_tags( $post ),
				'urls' => Sluice_Preload_Site::get_listing_urls( $post ),
			);
		}

		/**
		 * A post was published or is no longer, or changed while it was.
		 *
		 * @param string  $new_status Its status now.
		 * @param string  $old_status Its status before.
		 * @param WP_Post $post       The post.
		 */
		public static function handle_transition( $new_status, $old_status, $post ) {
			$was = 'publish' === $old_status;
			$is  = 'publish' === $new_status;
			if ( ( ! $was && ! $is ) || wp_is_post_autosave( $post ) || wp_is_post_revision( $post ) ) {
				return;
			}
			if ( in_array( $post->post_type, Sluice_Preload_Site::PARTS, true ) ) {
				// WordPress itself creates empty styles when somebody looks at the editor.
				if ( 'wp_global_styles' !== $post->post_type || 'new' !== $old_status ) {
					self::purge_everything();
				}
			} elseif ( Sluice_Preload_Site::is_page( $post ) ) {
				if ( $was && ! $is ) {
					self::remove_post( $post );
				} else {
					self::note_post( $post->ID, ! $was );
					self::$new_posts += $was ? array() : array( $post->ID => true );
				}
			}
		}

		/**
		 * A published post changed: its address, author, date or password may be others.
		 *
		 * @param int     $post_id The post.
		 * @param WP_Post $after   Now.
		 * @param WP_Post $before  Before.
		 */
		public static function handle_update( $post_id, $after, $before ) {
			if ( ! Sluice_Preload_Site::is_published( $after ) || 'publish' !== $before->post_status ) {
				return;
			}
			$is_listed_anew = $after->post_author !== $before->post_author || $after->post_date !== $before->post_date
				|| $after->post_name !== $before->post_name || $after->post_parent !== $before->post_parent || $after->post_type !== $before->post_type;
			self::note_post( $post_id, $is_listed_anew );
			if ( $after->post_name !== $before->post_name || $after->post_parent !== $before->post_parent ) {
				self::note_children( $after );
			}
			if ( $is_listed_anew && isset( self::$before[ $post_id ] ) ) {
				self::get_change()->add_tags( self::$before[ $post_id ]['tags'] );
				self::get_change()->add_urls( array( self::$before[ $post_id ]['url'] ) );
			}
			if ( '' === $before->post_password && '' !== $after->post_password ) {
				self::get_change()->add_tags( array( 'post-' . $post_id ), true );
				self::get_change()->add_urls( array( (string) get_permalink( $after ) ), true );
			}
		}

		/**
		 * A post was deleted for ever.
		 *
		 * @param int     $post_id The post.
		 * @param WP_Post $post    As it was.
		 */
		public static function handle_deletion( $post_id, $post ) {
			if ( 'nav_menu_item' === $post->post_type && 'publish' === $post->post_status ) {
				self::purge_everything();
			}
			if ( isset( self::$before[ $post_id ] ) ) {
				unset( self::$posts[ $post_id ] );
				self::remove_known( $post_id );
			}
		}

		/**
		 * Something about a published post changed.
		 *
		 * @param int $post_id The post.
		 */
		public static function handle_post_change( $post_id ) {
			if ( self::is_published( get_post( $post_id ) ) ) {
				self::note_post( $post_id, false );
			}
		}

		/**
		 * A post was stuck to the front page, or no longer is.
		 *
		 * @param int $post_id The post.
		 */
		public static function handle_listed_post( $post_id ) {
			if ( self::is_published( get_post( $post_id ) ) ) {
				self::note_post( $post_id, true );
			}
		}

		/**
		 * The terms of a post were set; those it left are known here only.
		 *
		 * @param int    $post_id     The post.
		 * @param array  $terms       Not used: names or ids.
		 * @param int[]  $tt_ids      Now.
		 * @param string $taxonomy    The taxonomy.
		 * @param bool   $append      Not used.
		 * @param int[]  $old_tt_ids  Before.
		 */
		public static function handle_post_terms( $post_id, $terms, $tt_ids, $taxonomy, $append, $old_tt_ids ) {
			$left = array_diff( array_map( 'intval', $old_tt_ids ), array_map( 'intval', $tt_ids ) );
			if ( ! $left && ! array_diff( array_map( 'intval', $tt_ids ), array_map( 'intval', $old_tt_ids ) ) ) {
				return;
			}
			if ( ! is_taxonomy_viewable( $taxonomy ) || ! self::is_published( get_post( $post_id ) ) ) {
				return;
			}
			self::note_post( $post_id, true );
			foreach ( $append ? array() : $left as $tt_id ) {
				$term = get_term_by( 'term_taxonomy_id', $tt_id );
				if ( $term ) {
					self::get_change()->add_tags( array( 'term-' . $term->term_id ) );
					self::get_change()->add_warm( Sluice_Preload_Site::get_term_urls( $term ) );
				}
			}
		}

		/**
		 * The picture of a post changed, which no other hook tells.
		 *
		 * @param int|int[] $meta_id Not used.
		 * @param int       $post_id The post.
		 * @param string    $key     The meta key.
		 */
		public static function handle_meta( $meta_id, $post_id, $key ) {
			if ( '_thumbnail_id' === $key ) {
				self::handle_post_change( $post_id );
			}
		}

		/**
		 * An attachment changed, and with it the post that it belongs to.
		 *
		 * @param int $post_id The attachment.
		 */
		public static function handle_attachment( $post_id ) {
			$post = get_post( $post_id );
			self::get_change()->add_tags( array( 'post-' . $post_id ), true );
			if ( $post && $post->post_parent ) {
				self::handle_post_change( $post->post_parent );
			}
		}

		/**
		 * The stock of a product or of one of its variations changed.
		 *
		 * @param object $product WooCommerce's product.
		 */
		public static function handle_product( $product ) {
			if ( is_object( $product ) && is_callable( array( $product, 'get_id' ) ) ) {
				$parent = is_callable( array( $product, 'get_parent_id' ) ) ? (int) $product->get_parent_id() : 0;
				self::handle_post_change( $parent ? $parent : (int) $product->get_id() );
			}
		}

		/**
		 * A product or one of its variations changed.
		 *
		 * @param int $post_id The product or variation.
		 */
		public static function handle_product_id( $post_id ) {
			$post = get_post( $post_id );
			self::handle_post_change( $post && 'product_variation' === $post->post_type ? $post->post_parent : $post_id );
		}

		/**
		 * A comment appears or disappears.
		 *
		 * @param string     $new_status approved, unapproved, spam, trash or delete.
		 * @param string     $old_status The same.
		 * @param WP_Comment $comment    The comment.
		 */
		public static function handle_comment_transition( $new_status, $old_status, $comment ) {
			if ( 'approved' === $new_status || 'approved' === $old_status ) {
				self::note_comment( $comment, 'approved' !== $new_status );
			}
		}

		/**
		 * A comment was written or edited.
		 *
		 * @param int $comment_id The comment.
		 */
		public static function handle_comment( $comment_id ) {
			$comment = get_comment( $comment_id );
			if ( $comment && '1' === (string) $comment->comment_approved ) {
				self::note_comment( $comment, false );
			}
		}

		/**
		 * A comment is about to be deleted.
		 *
		 * @param int $comment_id The comment.
		 */
		public static function handle_comment_deletion( $comment_id ) {
			$comment = get_comment( $comment_id );
			if ( $comment && '1' === (string) $comment->comment_approved ) {
				self::note_comment( $comment, true );
			}
		}

		/**
		 * Remembers the address of a term before it changes.
		 *
		 * @param int    $term_id  The term.
		 * @param string $taxonomy Its taxonomy.
		 */
		public static function remember_term( $term_id, $taxonomy ) {
			$link = is_taxonomy_viewable( $taxonomy ) ? get_term_link( (int) $term_id, $taxonomy ) : '';
			if ( is_string( $link ) && '' !== $link ) {
				self::$term_links[ $term_id ] = $link;
			}
		}

		/**
		 * A term was created: lists of terms show it.
		 *
		 * @param int    $term_id  The term.
		 * @param int    $tt_id    Not used.
		 * @param string $taxonomy Its taxonomy.
		 */
		public static function handle_new_term( $term_id, $tt_id, $taxonomy ) {
			if ( is_taxonomy_viewable( $taxonomy ) ) {
				self::get_change()->add_tags( array( 'terms-' . $taxonomy, 'sitemap' ) );
			}
		}

		/**
		 * A term changed; all its posts may show its name.
		 *
		 * @param int    $term_id  The term.
		 * @param int    $tt_id    Not used.
		 * @param string $taxonomy Its taxonomy.
		 */
		public static function handle_term( $term_id, $tt_id, $taxonomy ) {
			$term = is_taxonomy_viewable( $taxonomy ) ? get_term( $term_id, $taxonomy ) : null;
			if ( ! $term instanceof WP_Term ) {
				return;
			}
			if ( $term->count > Sluice_Preload_Site::MAX_TERM_POSTS / 2 ) {
				self::purge_everything();
			}
			$urls = array_values( array_unique( array_merge( isset( self::$term_links[ $term_id ] ) ? array( self::$term_links[ $term_id ] ) : array(), array( get_term_link( $term ) ) ) ) );
			self::get_change()->add_tags( array( 'term-' . $term_id, 'terms-' . $taxonomy, 'sitemap' ) );
			self::get_change()->add_urls( $urls );
			self::get_change()->add_warm( Sluice_Preload_Site::get_term_urls( $term ) );
		}

		/**
		 * A term is about to be deleted.
		 *
		 * @param int    $term_id  The term.
		 * @param string $taxonomy Its taxonomy.
		 */
		public static function handle_term_deletion( $term_id, $taxonomy ) {
			self::remember_term( $term_id, $taxonomy );
			if ( is_taxonomy_viewable( $taxonomy ) ) {
				self::get_change()->add_tags( array( 'term-' . $term_id, 'terms-' . $taxonomy, 'sitemap' ), true );
				self::get_change()->add_urls( isset( self::$term_links[ $term_id ] ) ? array( self::$term_links[ $term_id ] ) : array(), true );
			}
		}

		/**
		 * The name that an author's posts show may have changed.
		 *
		 * @param int     $user_id The user.
		 * @param WP_User $before  Before.
		 */
		public static function handle_profile( $user_id, $before ) {
			$now    = get_userdata( $user_id );
			$is_new = $now && ( $now->display_name !== $before->display_name || $now->user_nicename !== $before->user_nicename || $now->user_url !== $before->user_url );
			if ( $is_new && count_user_posts( $user_id ) ) {
				self::get_change()->add_tags( array( 'author-' . $user_id, 'list-author-' . $user_id ) );
				self::get_change()->add_warm( array( get_author_posts_url( $user_id ) ) );
			}
		}

		/**
		 * A user is gone; posts that were given away say so by clean_post_cache.
		 *
		 * @param int $user_id The user.
		 */
		public static function handle_gone_user( $user_id ) {
			self::get_change()->add_tags( array( 'author-' . $user_id, 'list-author-' . $user_id ), true );
		}

		/**
		 * An option changed that many pages show.
		 *
		 * @param string $name  The option.
		 * @param mixed  $old   Before.
		 * @param mixed  $value Now.
		 */
		public static function handle_option( $name, $old, $value ) {
			if ( 0 === strpos( $name, 'theme_mods_' ) && is_array( $old ) && is_array( $value ) ) {
				// WordPress notes by itself that there is no custom CSS.
				unset( $old['custom_css_post_id'], $value['custom_css_post_id'] );
				if ( $old === $value ) {
					return;
				}
			}
			if ( in_array( $name, self::OPTIONS, true ) || 0 === strpos( $name, 'theme_mods_' ) || 0 === strpos( $name, 'widget_' ) ) {
				self::purge_everything();
			} elseif ( 'sticky_posts' === $name ) {
				self::get_change()->add_tags( array( 'home', 'list-post' ) );
				self::get_change()->add_warm( array( home_url( '/' ) ) );
			}
		}

		/**
		 * An option appeared or went that many pages show.
		 *
		 * @param string $name  The option.
		 * @param mixed  $value Its value, if it appeared.
		 */
		public static function handle_new_option( $name, $value = null ) {
			// As above: WordPress' own note is no change.
			$is_theme = 0 === strpos( $name, 'theme_mods_' ) && ( ! is_array( $value ) || array_diff_key( $value, array( 'custom_css_post_id' => true ) ) );
			if ( $is_theme || in_array( $name, self::OPTIONS, true ) ) {
				self::purge_everything();
			}
		}

		/**
		 * An item of a menu changed; one that belongs to no menu yet is shown nowhere.
		 *
		 * @param int $menu_id The menu.
		 */
		public static function handle_menu_item( $menu_id ) {
			if ( $menu_id ) {
				self::purge_everything();
			}
		}

		/**
		 * WordPress, a theme or a plugin was updated; translations are, all the time.
		 *
		 * @param object $upgrader Not used.
		 * @param array  $details  What was updated.
		 */
		public static function handle_upgrade( $upgrader, $details ) {
			if ( ! isset( $details['type'] ) || 'translation' !== $details['type'] ) {
				self::purge_everything();
			}
		}

		/**
		 * Stores what was collected, and has it sent. Runs when the response is complete.
		 */
		public static function handle_shutdown() {
			foreach ( array_keys( self::$elsewhere ) as $site_id ) {
				switch_to_blog( $site_id );
				if ( sluice_preload_is_active() && self::store_change() ) {
					Sluice_Preload_Sender::wake();
				}
				restore_current_blog();
			}
			if ( self::store_change() ) {
				Sluice_Preload_Sender::start();
			}
		}

		/**
		 * Stores what was collected for this site.
		 *
		 * @return bool Whether there is anything to send. Without settings it is only noted, for the first day with them.
		 */
		private static function store_change() {
			$change = self::take_change();
			if ( $change->is_empty() ) {
				return false;
			}
			if ( ! Sluice_Preload_Settings::is_complete() ) {
				delete_option( 'sluice_preload_introduced' );
				return false;
			}
			Sluice_Preload_Outbox::add( 'change', $change->as_array() );
			return true;
		}

		/**
		 * What was collected so far; from now on, collecting starts anew.
		 *
		 * @return Sluice_Preload_Change
		 */
		public static function take_change() {
			$change = self::get_change();
			// The posts' own pages first: of very many pages, the last ones are left to the sitemap.
			foreach ( array_keys( self::$posts ) as $post_id ) {
				$post = get_post( $post_id );
				if ( self::is_published( $post ) ) {
					$change->add_warm( array( (string) get_permalink( $post ) ) );
				}
			}
			foreach ( self::$posts as $post_id => $is_listed ) {
				self::describe_post( $change, $post_id, $is_listed );
			}
			if ( count( self::$posts ) <= self::MAX_NEIGHBOURS ) {
				foreach ( array_keys( array_filter( self::$posts ) ) as $post_id ) {
					$change->add_tags( self::get_neighbour_tags( get_post( $post_id ) ) );
				}
			}
			self::$posts     = array();
			self::$new_posts = array();
			self::$before    = array();
			self::$change    = null;
			return $change;
		}

		/**
		 * Adds what a published post's change means.
		 *
		 * @param Sluice_Preload_Change $change    The change.
		 * @param int                   $post_id   The post.
		 * @param bool                  $is_listed Whether its listings change.
		 */
		private static function describe_post( $change, $post_id, $is_listed ) {
			$post = get_post( $post_id );
			if ( ! self::is_published( $post ) ) {
				return;
			}
			$url = (string) get_permalink( $post );
			$change->add_tags( array( 'any-' . $post->post_type, 'search' ) );
			if ( ! isset( self::$new_posts[ $post_id ] ) || count( self::$new_posts ) <= self::MAX_NEIGHBOURS ) {
				$change->add_tags( array( 'post-' . $post_id ) );
			}
			$change->add_urls( array( $url ) );
			if ( $is_listed ) {
				$change->add_tags( Sluice_Preload_Site::get_listing_tags( $post ) );
			}
			$change->add_warm( Sluice_Preload_Site::get_listing_urls( $post ) );
		}

		/**
		 * The posts before and after a post, which link to it.
		 *
		 * @param WP_Post|null $post The post.
		 * @return string[]
		 */
		private static function get_neighbour_tags( $post ) {
			global $wpdb;
			if ( ! self::is_published( $post ) || is_post_type_hierarchical( $post->post_type ) ) {
				return array();
			}
			// phpcs:disable WordPress.DB.DirectDatabaseQuery -- two rows by an index.
			$ids = array(
				$wpdb->get_var( $wpdb->prepare( "SELECT ID FROM $wpdb->posts WHERE post_type = %s AND post_status = 'publish' AND post_date < %s ORDER BY post_date DESC LIMIT 1", $post->post_type, $post->post_date ) ),
				$wpdb->get_var( $wpdb->prepare( "SELECT ID FROM $wpdb->posts WHERE post_type = %s AND post_status = 'publish' AND post_date > %s ORDER BY post_date ASC LIMIT 1", $post->post_type, $post->post_date ) ),
			);
			// phpcs:enable
			$tags = array();
			foreach ( array_filter( $ids ) as $id ) {
				$tags[] = 'post-' . $id;
			}
			return $tags;
		}

		/**
		 * Notes a change of a published post, to be described at the end: REST sets terms after the post is saved.
		 *
		 * @param int  $post_id   The post.
		 * @param bool $is_listed Whether its listings change.
		 */
		private static function note_post( $post_id, $is_listed ) {
			self::$posts[ $post_id ] = $is_listed || ! empty( self::$posts[ $post_id ] );
		}

		/**
		 * Notes that a page has another address or none: those of the pages below it change, too.
		 *
		 * @param WP_Post $post The page.
		 */
		private static function note_children( $post ) {
			$query = array(
				'post_parent' => $post->ID,
				'post_type'   => $post->post_type,
				'numberposts' => 1,
				'fields'      => 'ids',
			);
			if ( is_post_type_hierarchical( $post->post_type ) && get_children( $query ) ) {
				self::purge_everything_hard();
			}
		}

		/**
		 * Notes that a post is no longer there for visitors.
		 *
		 * @param WP_Post $post The post.
		 */
		private static function remove_post( $post ) {
			self::note_children( $post );
			if ( isset( self::$before[ $post->ID ] ) ) {
				self::remove_known( $post->ID );
				return;
			}
			// Changed past WordPress' own functions: the tags still tell.
			self::get_change()->add_tags( array_merge( array( 'post-' . $post->ID ), Sluice_Preload_Site::get_listing_tags( $post ) ), true );
			self::get_change()->add_warm( Sluice_Preload_Site::get_listing_urls( $post ) );
		}

		/**
		 * Purges a post that was remembered, hard, with its listings.
		 *
		 * @param int $post_id The post.
		 */
		private static function remove_known( $post_id ) {
			$before = self::$before[ $post_id ];
			self::get_change()->add_tags( array_merge( array( 'post-' . $post_id ), $before['tags'] ), true );
			self::get_change()->add_urls( array( $before['url'] ), true );
			self::get_change()->add_warm( $before['urls'] );
		}

		/**
		 * Notes that a comment appears or disappears below its post.
		 *
		 * @param WP_Comment $comment The comment.
		 * @param bool       $hard    Whether it disappears.
		 */
		private static function note_comment( $comment, $hard ) {
			$post = get_post( (int) $comment->comment_post_ID );
			if ( ! self::is_published( $post ) ) {
				return;
			}
			self::get_change()->add_tags( array( 'post-' . $post->ID, 'comments' ), $hard );
			self::note_post( $post->ID, false );
		}

		/**
		 * Whether a post is there for visitors.
		 *
		 * @param WP_Post|null $post The post.
		 * @return bool
		 */
		private static function is_published( $post ) {
			return Sluice_Preload_Site::is_published( $post );
		}
	}

	/**
	 * Tells caches what each page is made of, and whether it may be shared.
	 */
	final class Sluice_Preload_Pages {
		const SHARED   = 's-maxage=36000, stale-while-revalidate=3600, stale-if-error=86400'; // Nonces in pages live for 12 to 24 hours.
		const PRIVATE  = 'private, no-cache, must-revalidate, max-age=0';
		const MAX_TAGS = 50; // The Worker's limit for a page.
		const SEEN     = 'sluice_preload_seen';
		// Cookies of visitors who see pages of their own.
		const COOKIES = '/^(?:wordpress_logged_in_|wordpress_sec_|wp-postpass_|comment_author_|woocommerce_items_in_cart$|woocommerce_cart_hash$|wp_woocommerce_session_)/';
		const QUERIES = array( 'preview', 'unapproved', 'moderation-hash', 'add-to-cart', 'remove_item', 'removed_item', 'undo_item', 'wc-ajax', 'wc-api', 'customize_changeset_uuid' );

		/**
		 * Tags of the page, as keys.
		 *
		 * @var array
		 */
		private static $tags = array();

		/**
		 * Posts that the page shows, as keys.
		 *
		 * @var array
		 */
		private static $posts = array();

		/**
		 * Cache-Control for a page that may be shared.
		 *
		 * @var string
		 */
		private static $shared = '';

		/**
		 * Registers the hooks.
		 */
		public static function register() {
			add_action( 'template_redirect', array( __CLASS__, 'begin_page' ), -1000 );
			add_filter( 'nocache_headers', array( __CLASS__, 'make_private' ) );
			add_filter( 'rest_post_dispatch', array( __CLASS__, 'close_rest_reply' ) );
		}

		/**
		 * Says "private" wherever WordPress says "no-cache" to somebody who is logged in.
		 *
		 * @param array $headers The headers.
		 * @return array
		 */
		public static function make_private( $headers ) {
			if ( function_exists( 'is_user_logged_in' ) && is_user_logged_in() ) {
				$headers['Cache-Control'] = self::PRIVATE;
			}
			return $headers;
		}

		/**
		 * Keeps replies of the REST API out of caches: they have no tags, so no purge would find them.
		 *
		 * @param WP_HTTP_Response $reply The reply.
		 * @return WP_HTTP_Response
		 */
		public static function close_rest_reply( $reply ) {
			if ( $reply instanceof WP_HTTP_Response && ! array_key_exists( 'Cache-Control', $reply->get_headers() ) ) {
				$reply->header( 'Cache-Control', self::PRIVATE );
			}
			return $reply;
		}

		/**
		 * Sends the headers of a private page, or collects what a shared one shows until it is complete.
		 */
		public static function begin_page() {
			if ( self::is_private() ) {
				header( 'Cache-Control: ' . self::PRIVATE );
				return;
			}
			if ( ! Sluice_Preload_Settings::is_complete() || is_404() || is_trackback() ) {
				return;
			}
			/**
			 * Filters the Cache-Control header of a page that everybody may share.
			 *
			 * @param string $value The header; empty sends none.
			 */
			self::$shared = (string) apply_filters( 'sluice_preload_cache_control', self::SHARED );
			self::add_query_tags();
			add_filter( 'the_title', array( __CLASS__, 'note_title' ), 10, 2 );
			add_filter( 'get_pages', array( __CLASS__, 'note_pages' ) );
			add_action( 'pre_get_posts', array( __CLASS__, 'note_query' ) );
			add_action( 'pre_get_comments', array( __CLASS__, 'note_comment_query' ) );
			add_action( 'pre_get_terms', array( __CLASS__, 'note_term_query' ) );
			ob_start( array( __CLASS__, 'finish_page' ) );
		}

		/**
		 * Sends the headers when the page is complete. Called by PHP with the page, which stays as it is.
		 *
		 * @param string $page  The page.
		 * @param int    $phase PHP's flags.
		 * @return string
		 */
		public static function finish_page( $page, $phase ) {
			if ( headers_sent() || ! ( $phase & PHP_OUTPUT_HANDLER_START ) ) {
				return $page;
			}
			$sent = self::get_sent_headers();
			self::note_obstacle( $sent );
			if ( isset( $sent['set-cookie'] ) || ( defined( 'DONOTCACHEPAGE' ) && DONOTCACHEPAGE ) ) {
				header( 'Cache-Control: ' . self::PRIVATE );
			} elseif ( 200 === http_response_code() && ! isset( $sent['cache-control'] ) && ! isset( $sent['content-disposition'] ) ) {
				if ( '' !== self::$shared ) {
					header( 'Cache-Control: ' . self::$shared );
				}
				$tags = self::get_tags();
				if ( $tags ) {
					header( 'Cache-Tag: ' . implode( ',', $tags ) );
				}
			}
			return $page;
		}

		/**
		 * Notes a post whose title is shown.
		 *
		 * @param string $title   The title.
		 * @param mixed  $post_id The post; other plugins leave it out.
		 * @return string
		 */
		public static function note_title( $title, $post_id = 0 ) {
			if ( is_numeric( $post_id ) && $post_id > 0 ) {
				self::$posts[ (int) $post_id ] = true;
			}
			return $title;
		}

		/**
		 * Notes a list of pages.
		 *
		 * @param WP_Post[] $pages The pages.
		 * @return WP_Post[]
		 */
		public static function note_pages( $pages ) {
			self::$tags['list-page'] = true;
			return $pages;
		}

		/**
		 * Notes a list of posts besides the main one: a new post may belong to it.
		 *
		 * @param WP_Query $query The query.
		 */
		public static function note_query( $query ) {
			foreach ( array( 'p', 'page_id', 'attachment_id', 'name', 'pagename', 'post__in', 'post_name__in' ) as $single ) {
				if ( ! empty( $query->query_vars[ $single ] ) ) {
					return;
				}
			}
			$types = isset( $query->query_vars['post_type'] ) && '' !== $query->query_vars['post_type'] ? (array) $query->query_vars['post_type'] : array( 'post' );
			$types = in_array( 'any', $types, true ) ? array( 'post', 'page' ) : $types;
			foreach ( array_filter( $types, 'is_string' ) as $type ) {
				if ( is_post_type_viewable( $type ) ) {
					self::$tags[ 'list-' . $type ] = true;
				}
			}
		}

		/**
		 * Notes a list of comments of many posts.
		 *
		 * @param WP_Comment_Query $query The query.
		 */
		public static function note_comment_query( $query ) {
			if ( empty( $query->query_vars['post_id'] ) && empty( $query->query_vars['post__in'] ) && empty( $query->query_vars['parent__in'] ) ) {
				self::$tags['comments'] = true;
			}
		}

		/**
		 * Notes a list of terms.
		 *
		 * @param WP_Term_Query $query The query.
		 */
		public static function note_term_query( $query ) {
			foreach ( array( 'object_ids', 'include', 'term_taxonomy_id', 'slug', 'name' ) as $single ) {
				if ( ! empty( $query->query_vars[ $single ] ) ) {
					return;
				}
			}
			foreach ( array_filter( (array) $query->query_vars['taxonomy'], 'is_string' ) as $taxonomy ) {
				if ( is_taxonomy_viewable( $taxonomy ) ) {
					self::$tags[ 'terms-' . $taxonomy ] = true;
				}
			}
		}

		/**
		 * Whether the page is for this visitor alone.
		 *
		 * @return bool
		 */
		private static function is_private() {
			if ( is_user_logged_in() || is_preview() || is_customize_preview() || ( defined( 'DONOTCACHEPAGE' ) && DONOTCACHEPAGE ) ) {
				return true;
			}
			// What a form gets back is for whoever sent it.
			if ( isset( $_SERVER['REQUEST_METHOD'] ) && ! in_array( $_SERVER['REQUEST_METHOD'], array( 'GET', 'HEAD' ), true ) ) {
				return true;
			}
			if ( preg_grep( self::COOKIES, array_map( 'strval', array_keys( $_COOKIE ) ) ) ) {
				return true;
			}
			// phpcs:ignore WordPress.Security.NonceVerification -- only the names count.
			if ( array_intersect_key( $_GET, array_flip( self::QUERIES ) ) ) {
				return true;
			}
			$post = is_singular() ? get_queried_object() : null;
			if ( $post instanceof WP_Post && '' !== $post->post_password ) {
				return true;
			}
			return function_exists( 'is_cart' ) && ( is_cart() || is_checkout() || is_account_page() || is_wc_endpoint_url() );
		}

		/**
		 * Adds the tags that the address of the page gives.
		 */
		private static function add_query_tags() {
			global $wp_query;
			$object = get_queried_object();
			$tags   = array();
			if ( is_front_page() || is_home() || ( is_feed() && ! is_archive() && ! is_singular() && ! is_search() ) ) {
				$tags[] = 'home';
			}
			if ( get_query_var( 'sitemap' ) || get_query_var( 'sitemap-stylesheet' ) ) {
				$tags[] = 'sitemap';
			} elseif ( is_singular() && $object instanceof WP_Post ) {
				$tags = array_merge( $tags, self::get_post_tags( $object ) );
			} elseif ( $object instanceof WP_Term ) {
				$tags[] = 'term-' . $object->term_id;
			} elseif ( is_author() ) {
				$tags[] = 'author-' . get_query_var( 'author' );
				$tags[] = 'list-author-' . get_query_var( 'author' );
			} elseif ( is_search() ) {
				$tags[] = 'search';
			} elseif ( is_comment_feed() ) {
				$tags[] = 'comments';
			} elseif ( is_home() || is_date() || is_post_type_archive() || is_feed() ) {
				$types = get_query_var( 'post_type' );
				foreach ( $types ? (array) $types : array( 'post' ) as $type ) {
					$tags[] = 'list-' . $type;
				}
			}
			self::$tags += array_fill_keys( $tags, true );
			foreach ( (array) $wp_query->posts as $post ) {
				if ( $post instanceof WP_Post ) {
					self::$posts[ $post->ID ] = true;
				}
			}
		}

		/**
		 * The tags of a post's own page.
		 *
		 * @param WP_Post $post The post.
		 * @return string[]
		 */
		private static function get_post_tags( $post ) {
			$tags = array( 'post-' . $post->ID );
			foreach ( Sluice_Preload_Site::get_terms( $post ) as $term ) {
				if ( $term->count <= Sluice_Preload_Site::MAX_TERM_POSTS ) {
					$tags[] = 'term-' . $term->term_id;
				}
			}
			$tags[] = 'author-' . $post->post_author;
			return $tags;
		}

		/**
		 * All tags: of the address, of the lists on it, and of the posts shown; if these are too many, of their types.
		 *
		 * @return string[]
		 */
		private static function get_tags() {
			$posts = array();
			$types = array();
			foreach ( array_keys( self::$posts ) as $post_id ) {
				$post = get_post( $post_id );
				if ( Sluice_Preload_Site::is_page( $post ) ) {
					$posts[ 'post-' . $post_id ]        = true;
					$types[ 'any-' . $post->post_type ] = true;
				}
			}
			$tags = self::$tags + $posts;
			return array_slice( array_keys( count( $tags ) <= self::MAX_TAGS ? $tags : self::$tags + $types ), 0, self::MAX_TAGS );
		}

		/**
		 * The headers that are about to be sent, names in lower case.
		 *
		 * @return string[]
		 */
		private static function get_sent_headers() {
			$sent = array();
			foreach ( headers_list() as $line ) {
				$parts                                   = explode( ':', $line, 2 );
				$sent[ strtolower( trim( $parts[0] ) ) ] = trim( isset( $parts[1] ) ? $parts[1] : '' );
			}
			return $sent;
		}

		/**
		 * Remembers what keeps pages out of the cache, for Site Health; written when it changes, at most every ten seconds.
		 *
		 * @param string[] $sent The headers.
		 */
		private static function note_obstacle( $sent ) {
			$obstacle = isset( $sent['set-cookie'] ) ? 'Set-Cookie: ' . strtok( $sent['set-cookie'], '=' ) : '';
			if ( '' === $obstacle && isset( $sent['vary'] ) && preg_match( '/(^|,)\s*(cookie|\*)\s*(,|$)/i', $sent['vary'] ) ) {
				$obstacle = 'Vary: Cookie';
			}
			$seen = get_transient( self::SEEN );
			$seen = is_array( $seen ) ? $seen : array(
				'obstacle' => '',
				'at'       => 0,
			);
			if ( $seen['obstacle'] !== $obstacle && time() - $seen['at'] >= 10 ) {
				set_transient(
					self::SEEN,
					array(
						'obstacle' => $obstacle,
						'at'       => time(),
					),
					DAY_IN_SECONDS
				);
			}
		}
	}

	/**
	 * The settings page, notices and the admin bar.
	 */
	final class Sluice_Preload_Admin {
		const PAGE       = 'sluice-preload';
		const GROUP      = 'sluice_preload';
		const CAPABILITY = 'manage_options';
		const NOTICE     = 'sluice_preload_notice'; // User meta: what the last button did.
		const STATUS     = 'sluice_preload_status'; // Transient: what the Worker said last.
		const ACTIONS    = array( 'test', 'crawl', 'purge', 'purge_page' );

		/**
		 * Registers the hooks.
		 */
		public static function register() {
			add_action( 'admin_menu', array( __CLASS__, 'add_page' ) );
			add_action( 'admin_init', array( __CLASS__, 'register_settings' ) );
			add_action( 'admin_notices', array( __CLASS__, 'show_notices' ) );
			add_action( 'admin_bar_menu', array( __CLASS__, 'add_admin_bar' ), 90 );
			add_action( 'add_option_' . Sluice_Preload_Settings::OPTION, array( __CLASS__, 'forget_status' ), 10, 0 );
			add_action( 'update_option_' . Sluice_Preload_Settings::OPTION, array( __CLASS__, 'forget_status' ), 10, 0 );
			foreach ( self::ACTIONS as $action ) {
				add_action( 'admin_post_sluice_preload_' . $action, array( __CLASS__, 'handle_' . $action ) );
			}
		}

		/**
		 * Adds the page below Settings.
		 */
		public static function add_page() {
			add_options_page( __( 'Sluice Preload', 'sluice-preload' ), __( 'Sluice Preload', 'sluice-preload' ), self::CAPABILITY, self::PAGE, array( __CLASS__, 'show_page' ) );
		}

		/**
		 * Registers the settings, and remembers how this server reaches itself.
		 */
		public static function register_settings() {
			register_setting(
				self::GROUP,
				Sluice_Preload_Settings::OPTION,
				array(
					'type'              => 'array',
					'show_in_rest'      => false,
					'sanitize_callback' => array( __CLASS__, 'sanitize' ),
				)
			);
			add_settings_section( 'sluice_preload_worker', __( 'The Worker', 'sluice-preload' ), '__return_null', self::PAGE );
			$labels = array(
				'worker_url'  => __( 'Worker address', 'sluice-preload' ),
				'zone_id'     => __( 'Zone', 'sluice-preload' ),
				'signing_key' => __( 'Signing key', 'sluice-preload' ),
			);
			foreach ( $labels as $name => $label ) {
				add_settings_field(
					'sluice_preload_' . $name,
					$label,
					array( __CLASS__, 'show_field' ),
					self::PAGE,
					'sluice_preload_worker',
					array(
						'name'      => $name,
						'label_for' => 'sluice_preload_' . $name,
					)
				);
			}
			$address = Sluice_Preload_Proxy::get_own_address();
			if ( $address && get_option( 'sluice_preload_own_address' ) !== $address ) {
				update_option( 'sluice_preload_own_address', $address );
			}
		}

		/**
		 * Checks the settings; what is wrong keeps its old value. May run twice.
		 *
		 * @param mixed $given What the form sent.
		 * @return array
		 */
		public static function sanitize( $given ) {
			$stored = get_option( Sluice_Preload_Settings::OPTION );
			$stored = array_map( 'strval', array_intersect_key( is_array( $stored ) ? $stored : array(), Sluice_Preload_Settings::CONSTANTS ) );
			$given  = array_map( 'trim', array_filter( is_array( $given ) ? $given : array(), 'is_string' ) );
			if ( isset( $given['worker_url'] ) ) {
				$url = untrailingslashit( esc_url_raw( $given['worker_url'], array( 'http', 'https' ) ) );
				if ( '' === $given['worker_url'] || wp_parse_url( $url, PHP_URL_HOST ) ) {
					$stored['worker_url'] = $url;
				} else {
					self::add_error( 'worker_url', __( 'The Worker address must start with https:// and a host, such as https://edge-preload.example.workers.dev.', 'sluice-preload' ) );
				}
			}
			if ( isset( $given['zone_id'] ) ) {
				if ( preg_match( '/^[A-Za-z0-9_-]{0,64}$/', $given['zone_id'] ) ) {
					$stored['zone_id'] = $given['zone_id'];
				} else {
					self::add_error( 'zone_id', __( 'The zone has 1 to 64 letters, digits, - and _.', 'sluice-preload' ) );
				}
			}
			if ( isset( $given['signing_key'] ) && '' !== $given['signing_key'] ) {
				if ( strlen( $given['signing_key'] ) >= Sluice_Preload_Settings::MIN_KEY_CHARS ) {
					$stored['signing_key'] = $given['signing_key'];
				} else {
					/* translators: %d: a number. */
					self::add_error( 'signing_key', sprintf( __( 'The signing key has at least %d characters.', 'sluice-preload' ), Sluice_Preload_Settings::MIN_KEY_CHARS ) );
				}
			}
			return $stored;
		}

		/**
		 * Shows one field. The key is never printed.
		 *
		 * @param array $field With its name.
		 */
		public static function show_field( $field ) {
			$name  = $field['name'];
			$value = Sluice_Preload_Settings::get( $name );
			$is_on = Sluice_Preload_Settings::is_constant( $name );
			printf(
				'<input type="%1$s" id="%2$s" name="%3$s" value="%4$s" class="regular-text" autocomplete="%5$s" %6$s />',
				esc_attr( 'signing_key' === $name ? 'password' : ( 'worker_url' === $name ? 'url' : 'text' ) ),
				esc_attr( 'sluice_preload_' . $name ),
				esc_attr( Sluice_Preload_Settings::OPTION . '[' . $name . ']' ),
				esc_attr( 'signing_key' === $name ? '' : $value ),
				esc_attr( 'signing_key' === $name ? 'new-password' : 'off' ),
				disabled( $is_on, true, false )
			);
			$hints = array(
				'worker_url'  => __( 'Such as https://edge-preload.example.workers.dev, without a slash at the end.', 'sluice-preload' ),
				'zone_id'     => __( 'The id under which this site is configured at the Worker.', 'sluice-preload' ),
				'signing_key' => '' === $value
					? __( 'The same text as the zone\'s signing_key, or as the Worker\'s secret SIGNING_KEY.', 'sluice-preload' )
					: __( 'A key is set. Leave this empty to keep it.', 'sluice-preload' ),
			);
			/* translators: %s: the name of a constant. */
			$hint = $is_on ? sprintf( __( 'Set by %s in wp-config.php.', 'sluice-preload' ), Sluice_Preload_Settings::CONSTANTS[ $name ] ) : $hints[ $name ];
			printf( '<p class="description">%s</p>', esc_html( $hint ) );
		}

		/**
		 * Shows the page.
		 */
		public static function show_page() {
			if ( ! current_user_can( self::CAPABILITY ) ) {
				return;
			}
			echo '<div class="wrap"><h1>' . esc_html( get_admin_page_title() ) . '</h1>';
			echo '<form action="options.php" method="post">';
			settings_fields( self::GROUP );
			do_settings_sections( self::PAGE );
			submit_button();
			echo '</form>';
			echo '<h2>' . esc_html__( 'Actions', 'sluice-preload' ) . '</h2>';
			self::show_button( 'test', __( 'Test the connection', 'sluice-preload' ) );
			if ( Sluice_Preload_Settings::is_complete() ) {
				self::show_button( 'crawl', __( 'Warm all pages of the sitemap', 'sluice-preload' ) );
				self::show_button( 'purge', __( 'Purge everything', 'sluice-preload' ) );
				self::show_status();
			}
			echo '</div>';
		}

		/**
		 * Shows the result of the last button, and what stands still, to those who can help it.
		 */
		public static function show_notices() {
			if ( ! current_user_can( self::CAPABILITY ) ) {
				return;
			}
			$notice = get_user_meta( get_current_user_id(), self::NOTICE, true );
			if ( is_array( $notice ) ) {
				delete_user_meta( get_current_user_id(), self::NOTICE );
				printf( '<div class="notice notice-%1$s is-dismissible"><p>%2$s</p></div>', esc_attr( $notice['type'] ), esc_html( $notice['text'] ) );
			}
			$reason = Sluice_Preload_State::get_stop_reason();
			if ( '' !== $reason ) {
				printf(
					'<div class="notice notice-error"><p>%1$s <a href="%2$s">%3$s</a></p></div>',
					/* translators: %s: the Worker's reply. */
					esc_html( sprintf( __( 'Sluice Preload has stopped: the Worker does not accept the signing key. (%s) Changes are kept until it does. Check the key, then test the connection.', 'sluice-preload' ), $reason ) ),
					esc_url( self::get_page_url() ),
					esc_html__( 'Settings', 'sluice-preload' )
				);
			}
		}

		/**
		 * Adds "Purge this page" and "Purge everything".
		 *
		 * @param WP_Admin_Bar $bar The admin bar.
		 */
		public static function add_admin_bar( $bar ) {
			if ( ! current_user_can( self::CAPABILITY ) || ! Sluice_Preload_Settings::is_complete() ) {
				return;
			}
			$bar->add_node(
				array(
					'id'    => 'sluice-preload',
					'title' => esc_html__( 'Sluice', 'sluice-preload' ),
					'href'  => self::get_page_url(),
				)
			);
			if ( ! is_admin() ) {
				$bar->add_node(
					array(
						'parent' => 'sluice-preload',
						'id'     => 'sluice-preload-page',
						'title'  => esc_html__( 'Purge this page', 'sluice-preload' ),
						'href'   => self::get_action_url( 'purge_page', array( 'url' => rawurlencode( self::get_shown_url() ) ) ),
					)
				);
			}
			$bar->add_node(
				array(
					'parent' => 'sluice-preload',
					'id'     => 'sluice-preload-everything',
					'title'  => esc_html__( 'Purge everything', 'sluice-preload' ),
					'href'   => self::get_action_url( 'purge' ),
				)
			);
		}

		/**
		 * Tests the connection with a signed request.
		 */
		public static function handle_test() {
			self::check_request( 'test' );
			if ( ! Sluice_Preload_Settings::is_complete() ) {
				self::redirect( 'error', __( 'Fill in the Worker address, the zone and the key first.', 'sluice-preload' ) );
			}
			$reply = Sluice_Preload_Client::request( 'GET', Sluice_Preload_Client::get_zone_path( 'status' ), null, 8 );
			delete_transient( self::STATUS );
			if ( $reply['status'] < 200 || $reply['status'] >= 300 ) {
				self::redirect( 'error', self::explain( $reply ) );
			}
			Sluice_Preload_State::confirm();
			Sluice_Preload_Sender::start_at_shutdown();
			self::redirect( 'success', __( 'The Worker answers and accepts the key. Changes of this site reach it.', 'sluice-preload' ) );
		}

		/**
		 * Has the Worker read the sitemap.
		 */
		public static function handle_crawl() {
			self::check_request( 'crawl' );
			Sluice_Preload_Outbox::add( 'sitemap', array( 'url' => sluice_preload_get_sitemap_url() ) );
			Sluice_Preload_Sender::start_at_shutdown();
			self::redirect( 'success', __( 'The Worker is asked to warm all pages of the sitemap.', 'sluice-preload' ) );
		}

		/**
		 * Purges everything.
		 */
		public static function handle_purge() {
			self::check_request( 'purge' );
			Sluice_Preload_Watcher::purge_everything_hard();
			self::redirect( 'success', __( 'The Worker is asked to purge all pages.', 'sluice-preload' ) );
		}

		/**
		 * Purges the page that the administrator looks at, and returns there.
		 */
		public static function handle_purge_page() {
			self::check_request( 'purge_page' );
			// phpcs:ignore WordPress.Security.NonceVerification -- check_request did.
			$url = isset( $_GET['url'] ) && is_string( $_GET['url'] ) ? esc_url_raw( wp_unslash( $_GET['url'] ) ) : '';
			if ( ! Sluice_Preload_Change::is_own_url( $url ) ) {
				self::redirect( 'error', __( 'Only pages of this site can be purged.', 'sluice-preload' ) );
			}
			Sluice_Preload_Watcher::get_change()->add_urls( array( $url ), true );
			Sluice_Preload_Watcher::get_change()->add_warm( array( $url ) );
			wp_safe_redirect( $url );
			exit;
		}

		/**
		 * Forgets what the Worker said under other settings.
		 */
		public static function forget_status() {
			delete_transient( self::STATUS );
		}

		/**
		 * What the Worker says about this zone, a few seconds old; a Worker that fails is asked once a minute.
		 *
		 * @return array As Sluice_Preload_Client::request returns it.
		 */
		public static function load_status() {
			$reply = get_transient( self::STATUS );
			if ( ! is_array( $reply ) ) {
				$reply = Sluice_Preload_Client::request( 'GET', Sluice_Preload_Client::get_zone_path( 'status' ), null, 3 );
				set_transient( self::STATUS, $reply, 200 === $reply['status'] ? 10 : MINUTE_IN_SECONDS );
			}
			return $reply;
		}

		/**
		 * What is shown of a status: label and value.
		 *
		 * @param array $reply As load_status returns it.
		 * @return array[]
		 */
		public static function describe_status( $reply ) {
			$counts = Sluice_Preload_Outbox::count();
			$rows   = array( array( __( 'Changes that wait here to be sent', 'sluice-preload' ), number_format_i18n( $counts['waiting'] ) ) );
			if ( $counts['aside'] ) {
				$rows[] = array( __( 'Requests that the Worker did not take', 'sluice-preload' ), number_format_i18n( $counts['aside'] ) . ': ' . $counts['reason'] );
			}
			if ( $reply['status'] < 200 || $reply['status'] >= 300 ) {
				$rows[] = array( __( 'Worker', 'sluice-preload' ), self::explain( $reply ) );
				return $rows;
			}
			$body   = $reply['body'];
			$rows[] = array( __( 'Pages in the Worker\'s queue', 'sluice-preload' ), isset( $body['queue_depth'] ) ? number_format_i18n( (int) $body['queue_depth'] ) : '–' );
			$ratio  = isset( $body['hit_ratio'] ) && is_numeric( $body['hit_ratio'] ) ? (float) $body['hit_ratio'] : null;
			$rows[] = array( __( 'Hit ratio', 'sluice-preload' ), null === $ratio ? __( 'not known yet', 'sluice-preload' ) : number_format_i18n( 100 * $ratio, 1 ) . ' %' );
			if ( isset( $body['dead_letters'] ) ) {
				$rows[] = array( __( 'Pages that could not be warmed', 'sluice-preload' ), number_format_i18n( (int) $body['dead_letters'] ) );
			}
			$troubles = self::list_troubles( $body );
			if ( $troubles ) {
				$rows[] = array( __( 'What holds the Worker up', 'sluice-preload' ), implode( ' ', $troubles ) );
			}
			return $rows;
		}

		/**
		 * What keeps the Worker from warming pages.
		 *
		 * @param array $body The Worker's status.
		 * @return string[]
		 */
		private static function list_troubles( $body ) {
			$troubles = array();
			if ( ! empty( $body['paused'] ) ) {
				$troubles[] = __( 'Warming is paused.', 'sluice-preload' );
			}
			if ( isset( $body['breaker']['state'] ) && 'closed' !== $body['breaker']['state'] ) {
				$troubles[] = __( 'This site failed too often, so warming waits before it asks again.', 'sluice-preload' );
			}
			if ( ! empty( $body['alerts'] ) && is_array( $body['alerts'] ) ) {
				/* translators: %s: names in English. */
				$troubles[] = sprintf( __( 'Alerts: %s.', 'sluice-preload' ), implode( ', ', array_filter( $body['alerts'], 'is_string' ) ) );
			}
			return $troubles;
		}

		/**
		 * What is wrong, and the way out.
		 *
		 * @param array $reply As Sluice_Preload_Client::request returns it.
		 * @return string
		 */
		public static function explain( $reply ) {
			$ways = array(
				0   => __( 'Check the Worker address, and that this server may reach it.', 'sluice-preload' ),
				401 => __( 'The signature is not accepted: the signing key here differs from the Worker\'s, or this server\'s clock is wrong. Enter the key again.', 'sluice-preload' ),
				404 => __( 'The Worker does not know this zone, or this is not the Worker\'s address. Configure the zone at the Worker, and check both fields.', 'sluice-preload' ),
				503 => __( 'The Worker is not ready: its secret SIGNING_KEY may be missing. See its /health.', 'sluice-preload' ),
			);
			return $reply['reason'] . ' ' . ( isset( $ways[ $reply['status'] ] ) ? $ways[ $reply['status'] ] : __( 'See the Worker\'s log.', 'sluice-preload' ) );
		}

		/**
		 * Shows queue depth, hit ratio and the last errors.
		 */
		private static function show_status() {
			echo '<h2>' . esc_html__( 'Status', 'sluice-preload' ) . '</h2><table class="widefat striped" style="max-width: 60em"><tbody>';
			foreach ( self::describe_status( self::load_status() ) as $row ) {
				printf( '<tr><th scope="row">%1$s</th><td>%2$s</td></tr>', esc_html( $row[0] ), esc_html( $row[1] ) );
			}
			echo '</tbody></table>';
			$state = Sluice_Preload_State::load();
			if ( $state['errors'] ) {
				echo '<h2>' . esc_html__( 'Last errors', 'sluice-preload' ) . '</h2><ul>';
				foreach ( $state['errors'] as $error ) {
					printf( '<li>%1$s: %2$s</li>', esc_html( wp_date( 'Y-m-d H:i:s', (int) $error['at'] ) ), esc_html( $error['reason'] ) );
				}
				echo '</ul>';
			}
		}

		/**
		 * Shows a button in a form of its own.
		 *
		 * @param string $action One of ACTIONS.
		 * @param string $label  What it says.
		 */
		private static function show_button( $action, $label ) {
			printf( '<form action="%1$s" method="post" style="display: inline-block; margin-right: 1em"><input type="hidden" name="action" value="%2$s" />', esc_url( admin_url( 'admin-post.php' ) ), esc_attr( 'sluice_preload_' . $action ) );
			wp_nonce_field( 'sluice_preload_' . $action, '_wpnonce', true );
			printf( '<button type="submit" class="button">%s</button></form>', esc_html( $label ) );
		}

		/**
		 * Ends a request that may not do this.
		 *
		 * @param string $action One of ACTIONS.
		 */
		private static function check_request( $action ) {
			if ( ! current_user_can( self::CAPABILITY ) ) {
				wp_die( esc_html__( 'You may not do this.', 'sluice-preload' ), '', array( 'response' => 403 ) );
			}
			check_admin_referer( 'sluice_preload_' . $action );
		}

		/**
		 * Returns to where the administrator came from, with a notice.
		 *
		 * @param string $type success or error.
		 * @param string $text The notice.
		 */
		private static function redirect( $type, $text ) {
			update_user_meta(
				get_current_user_id(),
				self::NOTICE,
				array(
					'type' => $type,
					'text' => $text,
				)
			);
			$back = wp_get_referer();
			wp_safe_redirect( $back && 0 === strpos( $back, admin_url() ) ? $back : self::get_page_url() );
			exit;
		}

		/**
		 * Adds a message to a field.
		 *
		 * @param string $name The field.
		 * @param string $text The message.
		 */
		private static function add_error( $name, $text ) {
			add_settings_error( Sluice_Preload_Settings::OPTION, 'sluice_preload_' . $name, $text );
		}

		/**
		 * The address of the settings page.
		 *
		 * @return string
		 */
		public static function get_page_url() {
			return admin_url( 'options-general.php?page=' . self::PAGE );
		}

		/**
		 * The address of an action with its nonce.
		 *
		 * @param string $action One of ACTIONS.
		 * @param array  $query  More parameters.
		 * @return string
		 */
		private static function get_action_url( $action, $query = array() ) {
			return wp_nonce_url( add_query_arg( array( 'action' => 'sluice_preload_' . $action ) + $query, admin_url( 'admin-post.php' ) ), 'sluice_preload_' . $action );
		}

		/**
		 * The address that the administrator looks at.
		 *
		 * @return string
		 */
		private static function get_shown_url() {
			$home = wp_parse_url( home_url( '/' ) );
			$path = isset( $_SERVER['REQUEST_URI'] ) ? esc_url_raw( wp_unslash( $_SERVER['REQUEST_URI'] ) ) : '/';
			return $home['scheme'] . '://' . $home['host'] . ( isset( $home['port'] ) ? ':' . $home['port'] : '' ) . $path;
		}
	}

	/**
	 * Site Health: what keeps the site from being warm. Makes no request.
	 */
	final class Sluice_Preload_Health {
		const MAX_WAIT_S = 600;

		/**
		 * Adds the test.
		 *
		 * @param array $tests All tests.
		 * @return array
		 */
		public static function add_test( $tests ) {
			$tests['direct']['sluice_preload'] = array(
				'label' => __( 'Sluice Preload', 'sluice-preload' ),
				'test'  => array( __CLASS__, 'run' ),
			);
			return $tests;
		}

		/**
		 * Runs the test.
		 *
		 * @return array
		 */
		public static function run() {
			list( $status, $label, $text ) = self::judge();
			return array(
				'label'       => $label,
				'status'      => $status,
				'badge'       => array(
					'label' => __( 'Performance', 'sluice-preload' ),
					'color' => 'blue',
				),
				'description' => '<p>' . esc_html( $text ) . '</p>',
				'actions'     => sprintf( '<p><a href="%1$s">%2$s</a></p>', esc_url( Sluice_Preload_Admin::get_page_url() ), esc_html__( 'Settings of Sluice Preload', 'sluice-preload' ) ),
				'test'        => 'sluice_preload',
			);
		}

		/**
		 * Status, label and text.
		 *
		 * @return string[]
		 */
		private static function judge() {
			$problem = __( 'Sluice Preload cannot keep this site warm', 'sluice-preload' );
			$stopped = Sluice_Preload_State::get_stop_reason();
			if ( '' !== $stopped ) {
				/* translators: %s: the Worker's reply. */
				return array( 'critical', __( 'The Worker does not accept the signing key', 'sluice-preload' ), sprintf( __( 'Nothing is sent until the key is right: visitors see old pages. %s Enter the key again, then test the connection.', 'sluice-preload' ), $stopped ) );
			}
			foreach ( array( 'find_missing_setting', 'find_delay', 'find_missing_cron', 'find_other_cache', 'find_obstacle' ) as $check ) {
				$text = self::$check();
				if ( '' !== $text ) {
					return array( 'recommended', $problem, $text );
				}
			}
			return array( 'good', __( 'Sluice Preload keeps this site warm', 'sluice-preload' ), __( 'Changes reach the Worker, and pages can be shared.', 'sluice-preload' ) );
		}

		/**
		 * Settings that are missing.
		 *
		 * @return string
		 */
		private static function find_missing_setting() {
			return Sluice_Preload_Settings::is_complete() ? '' : __( 'The Worker address, the zone or the key is missing. Fill them in on the settings page.', 'sluice-preload' );
		}

		/**
		 * Rows that wait for long, or were set aside.
		 *
		 * @return string
		 */
		private static function find_delay() {
			$counts = Sluice_Preload_Outbox::count();
			$state  = Sluice_Preload_State::load();
			$reason = $state['errors'] ? $state['errors'][0]['reason'] : '';
			if ( $counts['waiting'] && time() - $counts['oldest'] > self::MAX_WAIT_S ) {
				/* translators: 1: a number, 2: the last error. */
				return sprintf( __( '%1$d changes wait for more than ten minutes to reach the Worker. %2$s Check that the Worker runs and that this server may reach it.', 'sluice-preload' ), $counts['waiting'], $reason );
			}
			/* translators: 1: a number, 2: the Worker's reply. */
			return $counts['aside'] ? sprintf( __( 'The Worker did not take %1$d requests. %2$s Purge everything, so that no old page stays.', 'sluice-preload' ), $counts['aside'], $counts['reason'] ) : '';
		}

		/**
		 * A site whose own timers never run.
		 *
		 * @return string
		 */
		private static function find_missing_cron() {
			$state = Sluice_Preload_State::load();
			if ( ! defined( 'DISABLE_WP_CRON' ) || ! DISABLE_WP_CRON || Sluice_Preload_Settings::fingerprint() === $state['agent'] ) {
				return '';
			}
			return __( 'DISABLE_WP_CRON is set, and the Worker does not call wp-cron.php yet: scheduled posts may be late. Test the connection, or have a system timer call wp-cron.php every minute.', 'sluice-preload' );
		}

		/**
		 * Another page cache.
		 *
		 * @return string
		 */
		private static function find_other_cache() {
			if ( ! defined( 'WP_CACHE' ) || ! WP_CACHE || ! file_exists( WP_CONTENT_DIR . '/advanced-cache.php' ) ) {
				return '';
			}
			return __( 'Another page cache is active (WP_CACHE and wp-content/advanced-cache.php): it may give the Worker old pages without tags. Switch off its page cache.', 'sluice-preload' );
		}

		/**
		 * Headers that keep every page uncached.
		 *
		 * @return string
		 */
		private static function find_obstacle() {
			$seen = get_transient( Sluice_Preload_Pages::SEEN );
			if ( ! is_array( $seen ) || '' === $seen['obstacle'] ) {
				return '';
			}
			/* translators: %s: a header. */
			return sprintf( __( 'Pages carry "%s", so they are not shared. Find the plugin or theme that sends it to visitors who are not logged in, and switch that off.', 'sluice-preload' ), $seen['obstacle'] );
		}
	}

	/**
	 * Purges and warms pages at the edge.
	 */
	final class Sluice_Preload_Command {
		/**
		 * Purges pages.
		 *
		 * ## OPTIONS
		 *
		 * [<url>...]
		 * : Pages to purge and warm again.
		 *
		 * [--tag=<tags>]
		 * : Tags to purge, separated by commas, such as post-12 or home.
		 *
		 * [--all]
		 * : Purge everything; also without URLs and tags.
		 *
		 * @param string[] $urls    The URLs.
		 * @param array    $options The options.
		 */
		public function purge( $urls = array(), $options = array() ) {
			$change = Sluice_Preload_Watcher::get_change();
			$tags   = isset( $options['tag'] ) ? array_filter( array_map( 'trim', explode( ',', $options['tag'] ) ) ) : array();
			self::check_urls( $urls );
			$change->add_urls( $urls, true );
			$change->add_warm( $urls );
			$change->add_tags( $tags, true );
			if ( ! empty( $options['all'] ) || ( ! $urls && ! $tags ) ) {
				Sluice_Preload_Watcher::purge_everything_hard();
			}
			self::send();
		}

		/**
		 * Warms pages.
		 *
		 * ## OPTIONS
		 *
		 * [<url>...]
		 * : Pages to warm; all pages of the sitemap without one.
		 *
		 * @param string[] $urls The URLs.
		 */
		public function warm( $urls = array() ) {
			self::check_urls( $urls );
			if ( $urls ) {
				Sluice_Preload_Watcher::get_change()->add_warm( $urls );
			} else {
				Sluice_Preload_Outbox::add( 'sitemap', array( 'url' => sluice_preload_get_sitemap_url() ) );
			}
			self::send();
		}

		/**
		 * Shows what waits here, and what the Worker says.
		 */
		public function status() {
			self::check_settings();
			$reply = Sluice_Preload_Client::request( 'GET', Sluice_Preload_Client::get_zone_path( 'status' ) );
			foreach ( Sluice_Preload_Admin::describe_status( $reply ) as $row ) {
				self::say( 'log', $row[0] . ': ' . $row[1] );
			}
			if ( $reply['status'] < 200 || $reply['status'] >= 300 ) {
				self::say( 'error', Sluice_Preload_Admin::explain( $reply ) );
			}
		}

		/**
		 * Sends at once, and says what became of it.
		 */
		private static function send() {
			self::check_settings();
			$change = Sluice_Preload_Watcher::take_change();
			if ( ! $change->is_empty() ) {
				Sluice_Preload_Outbox::add( 'change', $change->as_array() );
			}
			Sluice_Preload_Sender::run( false );
			$counts = Sluice_Preload_Outbox::count();
			$state  = Sluice_Preload_State::load();
			if ( $counts['waiting'] ) {
				/* translators: %s: the last error. */
				self::say( 'error', sprintf( __( 'Not delivered yet; it will be tried again. %s', 'sluice-preload' ), $state['errors'] ? $state['errors'][0]['reason'] : '' ) );
				return;
			}
			self::say( 'success', __( 'The Worker has it.', 'sluice-preload' ) );
		}

		/**
		 * Ends without settings.
		 */
		private static function check_settings() {
			if ( ! Sluice_Preload_Settings::is_complete() ) {
				self::say( 'error', __( 'Set SLUICE_WORKER_URL, SLUICE_ZONE_ID and SLUICE_SIGNING_KEY, or fill in the settings page.', 'sluice-preload' ) );
			}
		}

		/**
		 * Ends with a URL of another site.
		 *
		 * @param string[] $urls The URLs.
		 */
		private static function check_urls( $urls ) {
			foreach ( $urls as $url ) {
				if ( ! Sluice_Preload_Change::is_own_url( $url ) ) {
					/* translators: 1: a URL, 2: the site's address. */
					self::say( 'error', sprintf( __( '%1$s does not belong to this site: its URLs start with %2$s', 'sluice-preload' ), $url, home_url( '/' ) ) );
				}
			}
		}

		/**
		 * Says something on the command line; "error" ends the command.
		 *
		 * @param string $how  log, success or error.
		 * @param string $text What.
		 */
		private static function say( $how, $text ) {
			if ( is_callable( array( 'WP_CLI', $how ) ) ) {
				call_user_func( array( 'WP_CLI', $how ), $text );
			} else {
				echo esc_html( $text ) . "\n";
			}
		}
	}

	/**
	 * Whether this plugin is there: it answers the Worker's question, and says when it goes. Until it is back the Worker passes every
	 * visitor to WordPress and keeps no copy, because nobody would tell it of changes.
	 */
	final class Sluice_Preload_Presence {
		const QUERY     = 'sluice_preload_agent';
		const FORWARDED = 'sluice_preload_forwarded';
		const FAILED    = 'sluice_preload_failed_at';
		const TIMEOUT_S = 5;
		const QUIET_S   = 30; // So long after a fatal error the Worker is not told of another one.
		const FATAL     = array( E_ERROR, E_PARSE, E_CORE_ERROR, E_COMPILE_ERROR, E_USER_ERROR, E_RECOVERABLE_ERROR );

		/**
		 * Registers the hooks, and answers the Worker.
		 */
		public static function register() {
			self::answer();
			register_shutdown_function( array( __CLASS__, 'handle_shutdown' ) );
			add_action( 'init', array( __CLASS__, 'note_forwarded' ) );
		}

		/**
		 * Where the Worker asks.
		 *
		 * @return string
		 */
		public static function get_path() {
			return wp_parse_url( home_url( '/' ), PHP_URL_PATH ) . '?' . self::QUERY . '=1';
		}

		/**
		 * Tells the Worker, and nobody else, that this plugin is there.
		 */
		private static function answer() {
			// phpcs:ignore WordPress.Security.NonceVerification -- the Worker proves itself, and nothing is changed.
			if ( ! isset( $_GET[ self::QUERY ] ) || ! Sluice_Preload_Proxy::is_from_worker() || headers_sent() ) {
				return;
			}
			header( 'X-Sluice-Agent: ' . SLUICE_PRELOAD_VERSION );
			header( 'Cache-Control: private, no-store' );
			http_response_code( 204 );
			exit;
		}

		/**
		 * Notes that WordPress knows its visitors' host only from the Worker.
		 */
		public static function note_forwarded() {
			if ( Sluice_Preload_Proxy::is_host_forwarded() && ! get_option( self::FORWARDED ) ) {
				update_option( self::FORWARDED, '1' );
			}
		}

		/**
		 * Says that this plugin goes, and waits for the reply: nobody could send it later.
		 *
		 * @param string $reason deactivated or failed.
		 */
		public static function leave( $reason ) {
			if ( get_option( self::FORWARDED ) ) {
				self::leave_address();
			}
			if ( Sluice_Preload_Settings::is_complete() ) {
				$body = array(
					'zone_id'         => Sluice_Preload_Settings::get( 'zone_id' ),
					'idempotency_key' => 'agent-' . wp_generate_uuid4(),
					'leaves'          => $reason,
				);
				Sluice_Preload_Client::request( 'PUT', Sluice_Preload_Client::get_zone_path( 'agent' ), $body, self::TIMEOUT_S );
			}
		}

		/**
		 * Looks whether this request ended with a fatal error of this plugin.
		 */
		public static function handle_shutdown() {
			$error = error_get_last();
			if ( ! $error || ! in_array( $error['type'], self::FATAL, true ) || ! self::is_own( $error ) ) {
				return;
			}
			try {
				if ( time() - (int) get_option( self::FAILED ) >= self::QUIET_S ) {
					update_option( self::FAILED, time(), false );
					self::leave( 'failed' );
				}
			} catch ( Throwable $failure ) {
				return; // The Worker misses this plugin by itself.
			}
		}

		/**
		 * Whether an error happened in this plugin, or in something that it called.
		 *
		 * @param array $error As error_get_last returns it; the message of an exception has the calls that led to it.
		 * @return bool
		 */
		private static function is_own( $error ) {
			return __FILE__ === $error['file'] || false !== strpos( $error['message'], __FILE__ );
		}

		/**
		 * Where a copy of the other file is left.
		 *
		 * @return string
		 */
		private static function get_left_file() {
			return WPMU_PLUGIN_DIR . '/sluice-preload-address.php';
		}

		/**
		 * Leaves what lets WordPress know its visitors' host. Where that is not allowed, the Worker tells its operator.
		 */
		private static function leave_address() {
			$file = self::get_left_file();
			if ( wp_mkdir_p( dirname( $file ) ) && wp_is_writable( dirname( $file ) ) ) {
				copy( __DIR__ . '/sluice-preload-address.php', $file );
			}
		}

		/**
		 * Removes what was left: this plugin does the same. A must-use plugin stands beside it, and keeps it.
		 */
		public static function remove_address() {
			$file = self::get_left_file();
			if ( wp_normalize_path( __DIR__ ) !== wp_normalize_path( WPMU_PLUGIN_DIR ) && file_exists( $file ) ) {
				wp_delete_file( $file );
			}
		}
	}

	/**
	 * The address of the sitemap: WordPress' own, or that of the plugin that replaces it.
	 *
	 * @return string
	 */
	function sluice_preload_get_sitemap_url() {
		$url = get_sitemap_url( 'index' );
		if ( ! $url ) {
			$url = home_url( defined( 'WPSEO_VERSION' ) || defined( 'RANK_MATH_VERSION' ) ? '/sitemap_index.xml' : '/sitemap.xml' );
		}
		/**
		 * Filters the address of the sitemap that the Worker reads.
		 *
		 * @param string $url The address.
		 */
		return (string) apply_filters( 'sluice_preload_sitemap_url', $url );
	}

	/**
	 * Introduces this site to the Worker once for each set of settings: its cron, its sitemap, a first crawl, and no old copies.
	 */
	function sluice_preload_introduce() {
		if ( ! Sluice_Preload_Settings::is_complete() || wp_installing() ) {
			return;
		}
		$wanted = Sluice_Preload_Settings::fingerprint() . md5( home_url( '/' ) . SLUICE_PRELOAD_VERSION );
		$known  = get_option( 'sluice_preload_introduced' );
		if ( $known === $wanted ) {
			return;
		}
		update_option( 'sluice_preload_introduced', $wanted );
		Sluice_Preload_Outbox::add(
			'agent',
			array(
				'origin_cron_path'    => (string) wp_parse_url( site_url( '/wp-cron.php' ), PHP_URL_PATH ),
				'preload_sitemap_url' => sluice_preload_get_sitemap_url(),
				'presence_path'       => Sluice_Preload_Presence::get_path(),
			)
		);
		Sluice_Preload_Outbox::add( 'sitemap', array( 'url' => sluice_preload_get_sitemap_url() ) );
		if ( ! $known ) {
			// Changes that were made without settings reached nobody.
			Sluice_Preload_Watcher::purge_everything();
		}
		Sluice_Preload_Sender::start_at_shutdown();
	}

	/**
	 * Schedules the minute's cron, if it is not.
	 */
	function sluice_preload_schedule() {
		if ( Sluice_Preload_Settings::is_complete() && ! wp_next_scheduled( Sluice_Preload_Sender::HOOK ) ) {
			wp_schedule_event( time() + 60, Sluice_Preload_Sender::SCHEDULE, Sluice_Preload_Sender::HOOK );
		}
	}

	/**
	 * Runs when the plugin is activated.
	 *
	 * @param bool $network_wide Whether for all sites of a network.
	 */
	function sluice_preload_activate( $network_wide = false ) {
		if ( $network_wide ) {
			wp_die(
				esc_html__( 'Sluice Preload cannot be activated for a whole network: each site has a zone and a key of its own. Activate it in each site that needs it.', 'sluice-preload' ),
				esc_html__( 'Sluice Preload', 'sluice-preload' ),
				array( 'back_link' => true )
			);
		}
		Sluice_Preload_Outbox::create();
		Sluice_Preload_Presence::remove_address();
		delete_option( 'sluice_preload_introduced' );
		sluice_preload_schedule();
		sluice_preload_introduce();
		register_uninstall_hook( __FILE__, 'sluice_preload_uninstall' );
	}

	/**
	 * Runs when the plugin is deactivated. What waits is kept.
	 */
	function sluice_preload_deactivate() {
		Sluice_Preload_Presence::leave( 'deactivated' );
		wp_clear_scheduled_hook( Sluice_Preload_Sender::HOOK );
		delete_option( 'sluice_preload_introduced' );
	}

	/**
	 * Whether the plugin is active in the site that is worked on; a must-use plugin is in all of them.
	 *
	 * @return bool
	 */
	function sluice_preload_is_active() {
		$is_must_use = 0 === strpos( wp_normalize_path( __FILE__ ), wp_normalize_path( WPMU_PLUGIN_DIR ) . '/' );
		return $is_must_use || in_array( plugin_basename( __FILE__ ), (array) get_option( 'active_plugins' ), true );
	}

	/**
	 * Removes everything that the plugin stored, in all sites of a network.
	 */
	function sluice_preload_uninstall() {
		$query = array(
			'fields' => 'ids',
			'number' => 100,
			'offset' => 0,
		);
		do {
			$sites = is_multisite() ? get_sites( $query ) : array();
			foreach ( $sites as $site_id ) {
				switch_to_blog( $site_id );
				sluice_preload_remove_data();
				restore_current_blog();
			}
			$query['offset'] += $query['number'];
		} while ( $sites );
		sluice_preload_remove_data();
		Sluice_Preload_Presence::remove_address();
		delete_metadata( 'user', 0, Sluice_Preload_Admin::NOTICE, '', true );
	}

	/**
	 * Removes everything that the plugin stored in one site.
	 */
	function sluice_preload_remove_data() {
		global $wpdb;
		wp_clear_scheduled_hook( Sluice_Preload_Sender::HOOK );
		delete_transient( Sluice_Preload_Pages::SEEN );
		delete_transient( Sluice_Preload_Admin::STATUS );
		$table = Sluice_Preload_Outbox::get_table();
		// phpcs:disable WordPress.DB -- the names are this plugin's own.
		$wpdb->query( "DROP TABLE IF EXISTS $table" );
		$names = $wpdb->get_col( "SELECT option_name FROM $wpdb->options WHERE option_name LIKE 'sluice\\_preload\\_%' OR option_name LIKE '\\_transient\\_%sluice\\_preload\\_%'" );
		// phpcs:enable
		array_map( 'delete_option', $names );
	}

	/**
	 * Has the table removed together with a site of a network.
	 *
	 * @param string[] $tables  The tables.
	 * @param int      $site_id The site.
	 * @return string[]
	 */
	function sluice_preload_add_table( $tables, $site_id ) {
		global $wpdb;
		$tables['sluice_preload_outbox'] = $wpdb->get_blog_prefix( $site_id ) . 'sluice_preload_outbox';
		return $tables;
	}

	/**
	 * Registers all hooks.
	 */
	function sluice_preload_start() {
		Sluice_Preload_Presence::register();
		Sluice_Preload_Sender::register();
		Sluice_Preload_Watcher::register();
		Sluice_Preload_Pages::register();
		Sluice_Preload_Admin::register();
		add_filter( 'site_status_tests', array( 'Sluice_Preload_Health', 'add_test' ) );
		add_filter( 'wpmu_drop_tables', 'sluice_preload_add_table', 10, 2 );
		add_action( 'init', array( 'Sluice_Preload_Outbox', 'upgrade' ), -1 );
		add_action( 'init', 'sluice_preload_load_texts' );
		add_action( 'init', 'sluice_preload_schedule' );
		add_action( 'init', 'sluice_preload_introduce' );
		add_action( 'plugins_loaded', 'sluice_preload_add_command' );
		register_activation_hook( __FILE__, 'sluice_preload_activate' );
		register_deactivation_hook( __FILE__, 'sluice_preload_deactivate' );
	}

	/**
	 * Loads the translations.
	 */
	function sluice_preload_load_texts() {
		load_plugin_textdomain( 'sluice-preload', false, dirname( plugin_basename( __FILE__ ) ) . '/languages' );
	}

	/**
	 * Adds the commands of WP-CLI: wp sluice purge, warm and status.
	 */
	function sluice_preload_add_command() {
		if ( defined( 'WP_CLI' ) && WP_CLI ) {
			WP_CLI::add_command( 'sluice', 'Sluice_Preload_Command' );
		}
	}

	sluice_preload_start();
}
