<?php
// A must-use plugin as sites behind a proxy have it: the site's own host counts, whoever forwards it.
if ( ( $_SERVER['HTTP_X_FORWARDED_HOST'] ?? '' ) === preg_replace( '~^https?://~', '', WP_HOME ) ) {
	$_SERVER['HTTP_HOST'] = $_SERVER['HTTP_X_FORWARDED_HOST'];
}
